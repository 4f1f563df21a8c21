// Runs of a policy against single runs by the definition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/state_store.hpp"
#include "heuristics/goal_count.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "policies/builtin.hpp"
#include "policies/run_graph.hpp"
#include "tests/random_task.hpp"

namespace plumbline::testing {

// Answers by state, some of them wrong; notices when it is asked again.
class Script final : public KernelPolicy {
 public:
  Script(Random& random, const Task& task) : random_(random), task_(task) {}

  std::int32_t decide(const std::int32_t* values) override {
    const State state(values, values + task_.n_variables());
    CHECK(!was_asked_[state]);
    was_asked_[state] = true;
    return answer(state);
  }

  std::int32_t answer(const State& state) {
    const auto [place, is_new] = answers_.emplace(state, kNoAction);
    if (!is_new) return place->second;
    std::vector<std::int32_t> choices;
    for (std::int32_t op = 0; op < task_.n_operators(); ++op) {
      if (holds(task_.preconditions[op], state)) choices.push_back(op);
    }
    if (choices.empty() || random_.below(12) == 0) {
      const std::int32_t others[] = {kNoAction, kNoOperation, -9, task_.n_operators(),
                                     random_.below(task_.n_operators())};
      return place->second = others[random_.below(5)];
    }
    return place->second =
               choices[static_cast<std::size_t>(random_.below(static_cast<std::int32_t>(choices.size())))];
  }

  // By the definition; kInfinity if the goal is not reached.
  Cost cost(State state) {
    std::map<State, bool> seen;
    Cost cost = 0;
    while (!holds(task_.goal, state)) {
      const std::int32_t op = answer(state);
      if (seen[state] || op < 0 || op >= task_.n_operators() || !holds(task_.preconditions[op], state)) {
        return kInfinity;
      }
      seen[state] = true;
      state = apply(task_, op, state);
      cost += task_.costs[static_cast<std::size_t>(op)];
    }
    return cost;
  }

 private:
  Random& random_;
  const Task& task_;
  std::map<State, std::int32_t> answers_;
  std::map<State, bool> was_asked_;
};

inline void check_runs(Random& random, const CompiledTask& compiled) {
  const Task& task = compiled.task;
  StateStore store(compiled);
  RunGraph graph(store);
  Script script(random, task);
  std::vector<State> starts(12);
  std::vector<std::int32_t> ids(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts[i] = random_state(random, task);
    CHECK(store.add(1, starts[i].data(), &ids[i]));
  }
  const Slice slice(1e6);
  std::vector<std::int32_t> missing;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Cost truth = script.cost(starts[i]);
    RunGraph::Bounded run{ids[i], random.below(3) == 0 ? kInfinity : Cost{random.below(9)}};
    graph.run_bounded(run, -1, {}, &script, slice);
    CHECK(run.is_over && run.answer == (truth < run.bound ? truth : kInfinity));
    if (random.below(2) == 0) {
      RunGraph::LockStep limited{.active = {ids[i]}, .frontier = {}};
      CHECK(graph.run(limited, random.below(4), &script, slice, missing));
    }
  }
  // Without a policy, what was told is followed, and what is missing is named.
  State values(starts[0].size());
  RunGraph::LockStep together{.active = ids, .frontier = {}};
  while (!graph.run(together, -1, nullptr, slice, missing)) {
    CHECK(!missing.empty());
    for (const std::int32_t state : missing) {
      CHECK(graph.is_open(state) && store.values(1, &state, values.data()));
      graph.tell(state, script.answer(values));
    }
  }
  CHECK(missing.empty());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Cost truth = script.cost(starts[i]);
    const RunGraph::Result result = graph.result(ids[i]);
    CHECK(result.outcome == (truth == kInfinity ? RunOutcome::kFailed : RunOutcome::kSolved));
    CHECK(result.cost == truth);
    for (const std::int32_t state : std::vector<std::int32_t>(graph.trace(ids[i]))) {
      CHECK(graph[state].outcome == result.outcome);
    }
  }

  // The greedy policy with its memory against the definition.
  EvaluatorOf<GoalCount> value(task);
  GoalCount count(task);
  GreedyPolicy greedy(compiled, value);
  for (const State& state : starts) {
    std::int32_t best = kNoAction;
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      if (!holds(task.preconditions[op], state)) continue;
      const auto left = [&](std::int32_t by) { return count(apply(task, by, state).data()); };
      if (best == kNoAction || left(op) < left(best)) best = op;
    }
    CHECK(greedy.decide(state.data()) == best);
  }
}

}  // namespace plumbline::testing
