// The C interface of policies that decide inside the kernels, and of the runs of any policy. As in
// tasks_and_searches.cpp, Python checks sizes and this code checks contents.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/state_store.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "interface/checked_input.hpp"
#include "interface/guarded.hpp"
#include "networks/action_schema_network.hpp"
#include "policies/builtin.hpp"
#include "policies/network_policy.hpp"
#include "policies/runs.hpp"

using namespace plumbline;

// Goes to the successor with the smallest value; the evaluator must outlive the result.
PLUMBLINE_API Status plumbline_policy_greedy(const CompiledTask* task, Evaluator* value,
                                             KernelPolicy** result) {
  return guarded([&] {
    *result = std::make_unique<GreedyPolicy>(*task, *value).release();
    return true;
  });
}

// `keys`: one per fact of the task.
PLUMBLINE_API Status plumbline_policy_random(const CompiledTask* task, const std::int64_t* keys,
                                             KernelPolicy** result) {
  return guarded([&] {
    std::vector<std::uint64_t> numbers(keys, keys + task->task.n_facts());
    *result = std::make_unique<RandomPolicy>(*task, std::move(numbers)).release();
    return true;
  });
}

// By action of the network: its operators.
PLUMBLINE_API Status plumbline_policy_network(const ActionSchemaNetwork* network, const CompiledTask* task,
                                              const std::int32_t* begin, const std::int32_t* operators,
                                              double tolerance, KernelPolicy** result) {
  return guarded([&] {
    const auto n_actions = static_cast<std::int64_t>(network->n_operators());
    if (network->n_variables() != task->task.n_variables()) return false;
    if (!are_operators(task->task, begin[n_actions], operators)) return false;
    IndexRows rows{{begin, begin + n_actions + 1}, {operators, operators + begin[n_actions]}};
    *result =
        std::make_unique<NetworkPolicy>(*network, task->task, std::move(rows), static_cast<float>(tolerance))
            .release();
    return true;
  });
}

PLUMBLINE_API void plumbline_policy_destroy(KernelPolicy* policy) {
  std::unique_ptr<KernelPolicy>{policy}.reset();
}

// What the policy answers in states given by their values, one row each.
PLUMBLINE_API Status plumbline_policy_decide(KernelPolicy* policy, const CompiledTask* task, std::int64_t n,
                                             const std::int32_t* values, std::int32_t* answers) {
  return guarded([&] {
    for (std::int64_t i = 0; i < n; ++i, values += task->task.n_variables()) {
      if (!in_domains(task->task, values)) return false;
      answers[i] = policy->decide(values);
    }
    return true;
  });
}

PLUMBLINE_API Status plumbline_runs_create(StateStore* states, Runs** result) {
  return guarded([&] {
    *result = std::make_unique<Runs>(*states).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_runs_destroy(Runs* runs) { std::unique_ptr<Runs>{runs}.reset(); }

// Runs from all starts together, or continues the last ones. Without a policy (null), the caller provides the
// answers. `counts` receives whether all are over, how many answers are missing, and, since the beginning,
// how often policies of the kernels were asked and how many answers were not applicable.
PLUMBLINE_API Status plumbline_runs_run(Runs* runs, KernelPolicy* policy, std::int64_t n,
                                        const std::int32_t* starts, std::int32_t continues,
                                        std::int64_t limit, double seconds, std::int64_t* counts) {
  return guarded([&] {
    if (continues == 0) {
      if (!runs->has(n, starts)) return false;
      runs->together = {.active = {starts, starts + n}, .frontier = {}};
    }
    runs->count(runs->graph.run(runs->together, limit, policy, Slice(seconds), runs->missing), counts);
    return true;
  });
}

// Continues bounded runs, one row each: how far they are, what they answer, and whether they have ended.
// The others have made the given number of steps, lack an answer, or had no time.
PLUMBLINE_API Status plumbline_runs_bounded(Runs* runs, KernelPolicy* policy, std::int64_t n,
                                            std::int32_t* states, const std::int64_t* bounds,
                                            std::int64_t* spent, std::int64_t* steps, std::int64_t* answers,
                                            std::uint8_t* ended, std::int64_t max_steps, std::int64_t n_known,
                                            const std::int64_t* known, double seconds, std::int64_t* counts) {
  return guarded([&] {
    if (!runs->has(n, states)) return false;
    const Slice slice(seconds);
    const std::span<const Cost> good_enough(known, static_cast<std::size_t>(n_known));
    bool is_over = true;
    runs->missing.clear();
    for (std::int64_t i = 0; i < n; ++i) {
      if (ended[i] != 0) continue;
      RunGraph::Bounded run{states[i], bounds[i], spent[i], steps[i]};
      runs->graph.run_bounded(run, max_steps, good_enough, policy, slice);
      states[i] = run.state;
      spent[i] = run.spent;
      steps[i] = run.steps;
      answers[i] = run.answer;
      ended[i] = run.is_over ? 1 : 0;
      if (run.is_over || run.steps == max_steps) continue;
      is_over = false;
      if (policy == nullptr && runs->graph.is_open(run.state)) runs->missing.push_back(run.state);
    }
    std::ranges::sort(runs->missing);
    const auto twice = std::ranges::unique(runs->missing);
    runs->missing.erase(twice.begin(), twice.end());
    runs->count(is_over, counts);
    return true;
  });
}

PLUMBLINE_API Status plumbline_runs_missing(const Runs* runs, std::int32_t* states) {
  return guarded([&] {
    std::ranges::copy(runs->missing, states);
    return true;
  });
}

// What a policy outside answers.
PLUMBLINE_API Status plumbline_runs_tell(Runs* runs, std::int64_t n, const std::int32_t* states,
                                         const std::int32_t* answers) {
  return guarded([&] {
    if (!runs->has(n, states)) return false;
    for (std::int64_t i = 0; i < n; ++i) runs->graph.tell(states[i], answers[i]);
    return true;
  });
}

// Takes over a run from the graph of another table of the same task; `answer` receives its first state here,
// whether it has a result, and its cost, or what it took as far as it was walked.
PLUMBLINE_API Status plumbline_runs_adopt(Runs* runs, Runs* other, std::int32_t start, std::int64_t* answer) {
  return guarded([&] {
    if (!other->has(1, &start) || &other->graph.store().task() != &runs->graph.store().task()) return false;
    const std::int32_t state = runs->graph.adopt(other->graph, start);
    const RunGraph::Result result = runs->graph.result(state);
    answer[0] = state;
    answer[1] = result.outcome == RunOutcome::kUnknown ? 0 : 1;
    answer[2] = result.cost;
    return true;
  });
}

// A policy outside had no answer.
PLUMBLINE_API Status plumbline_runs_fail(Runs* runs, std::int32_t state) {
  return guarded([&] {
    if (!runs->has(1, &state)) return false;
    runs->graph.fail(state);
    return true;
  });
}

// Decides in those of the states that are open, as far as there are answers; the decisions of all.
PLUMBLINE_API Status plumbline_runs_decide(Runs* runs, KernelPolicy* policy, std::int64_t n,
                                           const std::int32_t* states, std::int32_t* decisions,
                                           std::int64_t* counts) {
  return guarded([&] {
    if (!runs->has(n, states)) return false;
    runs->missing.clear();
    for (std::int64_t i = 0; i < n; ++i) {
      if (runs->graph.is_open(states[i]) && !runs->graph.decide(states[i], policy)) {
        runs->missing.push_back(states[i]);
      }
      decisions[i] = runs->graph[states[i]].decision;
    }
    runs->count(runs->missing.empty(), counts);
    return true;
  });
}

// Outcomes, reasons and costs as far as they are known. Where a run has no outcome, the reason is that of
// where it stands now, and the cost what it took to get there.
PLUMBLINE_API Status plumbline_runs_results(Runs* runs, std::int64_t n, const std::int32_t* starts,
                                            std::int32_t* outcomes, std::int32_t* reasons,
                                            std::int64_t* costs) {
  return guarded([&] {
    if (!runs->has(n, starts)) return false;
    for (std::int64_t i = 0; i < n; ++i) {
      const RunGraph::Result result = runs->graph.result(starts[i]);
      outcomes[i] = static_cast<std::int32_t>(result.outcome);
      reasons[i] = static_cast<std::int32_t>(result.reason);
      costs[i] = result.cost;
    }
    return true;
  });
}

// The run from a state as far as it was walked, if there is room: its states, and the decision in each.
// `answer` receives how many states it has, and its result as in `runs_results`.
PLUMBLINE_API Status plumbline_runs_trace(Runs* runs, std::int32_t start, std::int64_t room,
                                          std::int32_t* states, std::int32_t* decisions,
                                          std::int64_t* answer) {
  return guarded([&] {
    if (!runs->has(1, &start)) return false;
    const RunGraph::Result result = runs->graph.result(start);
    const std::vector<std::int32_t>& trace = runs->graph.trace(start);
    if (static_cast<std::int64_t>(trace.size()) <= room) {
      for (const std::int32_t state : trace) {
        *states++ = state;
        *decisions++ = runs->graph[state].decision;
      }
    }
    answer[0] = static_cast<std::int64_t>(trace.size());
    answer[1] = static_cast<std::int64_t>(result.outcome);
    answer[2] = static_cast<std::int64_t>(result.reason);
    answer[3] = result.cost;
    return true;
  });
}

// The states from which the policy goes to `state`, at most `room` of them; `counts` receives how many
// there are.
PLUMBLINE_API Status plumbline_runs_parents(Runs* runs, std::int32_t state, std::int64_t room,
                                            std::int32_t* parents, std::int32_t* decisions,
                                            std::int64_t* counts) {
  return guarded([&] {
    if (!runs->has(1, &state)) return false;
    counts[0] = 0;
    for (std::int32_t parent = runs->graph[state].first_parent; parent != RunGraph::kNone;
         parent = runs->graph[parent].next_parent) {
      if (counts[0] < room) {
        parents[counts[0]] = parent;
        decisions[counts[0]] = runs->graph[parent].decision;
      }
      ++counts[0];
    }
    return true;
  });
}
