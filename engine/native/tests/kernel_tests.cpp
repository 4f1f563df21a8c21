// Runs the kernels on random tasks under AddressSanitizer and UndefinedBehaviorSanitizer: they must agree
// with each other and with the definition of a task, and touch no memory that is not theirs.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "core/state_store.hpp"
#include "fuzzing/random_walks.hpp"
#include "heuristics/goal_count.hpp"
#include "heuristics/hff.hpp"
#include "heuristics/hmax.hpp"
#include "heuristics/lmcut.hpp"
#include "oracles/bounds.hpp"
#include "search/aoca_star.hpp"
#include "search/astar.hpp"
#include "search/blind_search.hpp"
#include "search/enforced_hill_climbing.hpp"
#include "search/greedy_best_first.hpp"
#include "tests/abstraction_checks.hpp"
#include "tests/dominance_checks.hpp"
#include "tests/random_task.hpp"
#include "tests/run_checks.hpp"

namespace plumbline::testing {
namespace {

constexpr Limits kNoLimits{0.0, 0, ~std::uint64_t{0}};

// Everything reachable from `start`, each successor compared with the definition.
void check_states(const CompiledTask& compiled, StateStore& store) {
  const Task& task = compiled.task;
  const auto n_variables = static_cast<std::size_t>(task.n_variables());
  State state(n_variables);
  State found(n_variables);
  for (std::int32_t id = 0; id < store.size(); ++id) {
    CHECK(store.values(1, &id, state.data()));
    std::int64_t row[2];
    CHECK(store.count_applicable(1, &id, row));
    std::vector<std::int32_t> operators(static_cast<std::size_t>(row[1]));
    CHECK(store.applicable(1, &id, operators.data()));
    std::size_t next = 0;
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      std::int32_t successor = -2;
      CHECK(store.apply(1, &id, &op, &successor));
      const bool is_applicable = holds(task.preconditions[op], state);
      CHECK((successor >= 0) == is_applicable);
      if (!is_applicable) continue;
      CHECK(operators[next++] == op);
      CHECK(store.values(1, &successor, found.data()));
      CHECK(found == apply(task, op, state));
      std::int32_t again = -1;
      CHECK(store.find(1, found.data(), &again) && again == successor);
    }
    CHECK(next == operators.size());
  }
  std::int32_t unknown = static_cast<std::int32_t>(store.size());
  CHECK(!store.values(1, &unknown, state.data()));
}

template <class Search>
SearchResult run(const SearchRequest& request, std::int64_t max_bytes, Search&& search) {
  Progress progress{};
  Limits limits = kNoLimits;
  if (max_bytes > 0) limits.bytes = static_cast<std::uint64_t>(max_bytes);
  Monitor monitor(limits, &progress);
  SearchResult result;
  try {
    result = search(monitor);
  } catch (const MemoryLimitReached&) {
    CHECK(max_bytes > 0);
    result.outcome = Outcome::kMemoryLimit;
    return result;
  }
  CHECK(max_bytes == 0 || monitor.account().peak() <= static_cast<std::size_t>(max_bytes));
  if (result.outcome == Outcome::kSolved) {
    CHECK(plan_cost(request.compiled.task, request.start, result.plan) == result.cost);
  }
  return result;
}

template <class Heuristic, class Search>
SearchResult run_with(const SearchRequest& request, Search&& search) {
  Heuristic heuristic(request.compiled.task);
  return run(request, 0, [&](Monitor& monitor) { return search(request, heuristic, monitor); });
}

void check_searches(const CompiledTask& compiled, const State& start, Cost truth) {
  const SearchRequest request{compiled, start, compiled.task.goal};
  const bool is_solvable = truth != kInfinity;
  const auto is_optimal = [&](const SearchResult& result) {
    return result.outcome == (is_solvable ? Outcome::kSolved : Outcome::kUnsolvable) && result.cost == truth;
  };
  CHECK(is_optimal(run(request, 0, [&](Monitor& monitor) { return blind_search<0>(request, monitor); })));
  if (compiled.packing.n_words() == 1) {
    CHECK(is_optimal(run(request, 0, [&](Monitor& monitor) { return blind_search<1>(request, monitor); })));
  }
  CHECK(is_optimal(run_with<LmCut>(request, astar<LmCut>)));
  CHECK((run_with<HFF>(request, greedy_best_first<HFF>).outcome == Outcome::kSolved) == is_solvable);
  CHECK(run_with<GoalCount>(request, enforced_hill_climbing<GoalCount>).outcome != Outcome::kUnsolvable);

  SearchRequest bounded = request;
  bounded.bound = is_solvable ? truth : 10;
  CHECK(run_with<LmCut>(bounded, astar<LmCut>).outcome != Outcome::kSolved);
  for (const std::int64_t bytes : {500, 2000, 8000}) {
    const auto result =
        run(request, bytes, [&](Monitor& monitor) { return blind_search<0>(request, monitor); });
    CHECK(result.outcome == Outcome::kMemoryLimit || is_optimal(result));
  }
}

// Admissible, and as inconsistent as can be: some number up to the truth, by the state's id.
class BelowTruth {
 public:
  BelowTruth(StateStore& store, const std::vector<Cost>& costs) : store_(store), costs_(costs) {}
  void set_goal(std::span<const Fact>) {}

  Cost operator()(const std::int32_t* values) {
    std::int32_t id = -1;
    CHECK(store_.find(1, values, &id) && id >= 0);
    const Cost cost = costs_[static_cast<std::size_t>(id)];
    const Cost scattered = (id * 7919) % 1009;
    if (cost == kInfinity) return scattered % 3 == 0 ? kInfinity : scattered;
    return scattered % (cost + 1);
  }

 private:
  StateStore& store_;
  const std::vector<Cost>& costs_;
};

// AOCA* step by step, the open nodes counted again after each.
template <class Heuristic>
SearchResult check_action(const SearchRequest& request, Heuristic& heuristic) {
  Progress progress{};
  Monitor monitor(kNoLimits, &progress);
  AocaStar<Heuristic> search(request, heuristic, monitor);
  while (true) {
    CHECK(search.counters_hold());
    if (const std::optional<SearchResult> result = search.step()) return *result;
  }
}

// All actions of the start, with all that may be known about it.
void check_actions(const CompiledTask& compiled, const State& start, StateStore& store,
                   const std::vector<Cost>& costs) {
  const Task& task = compiled.task;
  if (holds(task.goal, start)) return;
  for (std::int32_t op = 0; op < task.n_operators(); op += 1 + op / 8) {
    if (!holds(task.preconditions[op], start)) continue;
    const State successor = apply(task, op, start);
    std::int32_t id = -1;
    CHECK(store.find(1, successor.data(), &id) && id >= 0);
    const Cost after = costs[static_cast<std::size_t>(id)];
    const Cost step = task.costs[static_cast<std::size_t>(op)];
    const bool is_optimal = after != kInfinity && costs[0] == step + after;
    const Outcome truth = costs[0] == kInfinity ? Outcome::kUnsolvable
                          : is_optimal          ? Outcome::kActionOptimal
                                                : Outcome::kActionNotOptimal;
    SearchRequest request{compiled,  start, task.goal,
                          kInfinity, true,  ActionQuestion{successor, step, false}};
    BelowTruth inconsistent(store, costs);
    LmCut lmcut(task);
    CHECK(check_action(request, lmcut).outcome == truth);
    CHECK(check_action(request, inconsistent).outcome == truth);
    if (truth == Outcome::kUnsolvable) continue;
    request.action->is_solvable = true;
    CHECK(check_action(request, inconsistent).outcome == truth);
    request.action->plan_cost = costs[0];
    CHECK(check_action(request, inconsistent).outcome == truth);
  }
}

// The relaxed goal can be reached exactly where h_max is finite, whichever state is known to reach it.
void check_relaxed_goal(const CompiledTask& compiled, StateStore& store) {
  RelaxedGoal goal(compiled.task);
  HMax hmax(compiled.task);
  State values(compiled.task.domain_sizes.size());
  std::optional<State> before;
  for (std::int32_t id = 0; id < store.size(); ++id) {
    CHECK(store.values(1, &id, values.data()));
    const bool is_reachable = hmax(values.data()) != kInfinity;
    CHECK(goal.is_reachable(values.data()) == is_reachable);
    CHECK(goal.is_reachable(values.data(), before ? before->data() : nullptr) == is_reachable);
    if (is_reachable) before = values;
  }
}

// Walks find exactly the states that they may enter, and know when there are no others.
void check_walks(Random& random, const CompiledTask& compiled, const State& start) {
  StateStore store(compiled);
  std::int32_t init = -1;
  CHECK(store.add(1, start.data(), &init));
  std::vector<std::int64_t> words(PythonRandom::kWords);
  for (std::int64_t& word : words) word = random.below(1 << 30);
  RandomWalks walks(store, PythonRandom(words.data(), PythonRandom::kWords), 100, 3, random.below(3));
  Progress progress{};
  Monitor monitor(kNoLimits, &progress);
  walks.offer(init, -1, {});
  walks.grow(100, 2000, monitor);
  CHECK(walks.is_exhausted(monitor) || walks.entries().size() == 100 || walks.statistics().walks == 2000);
  std::size_t begin = 0;
  for (const RandomWalks::Entry& entry : walks.entries()) {
    std::int32_t state =
        entry.reference < 0 ? init : walks.entries()[static_cast<std::size_t>(entry.reference)].state;
    for (; begin < entry.operators_end; ++begin) {
      const std::int32_t op = walks.operators()[begin];
      const std::int32_t before = state;
      CHECK(store.apply(1, &before, &op, &state) && state >= 0);
    }
    CHECK(state == entry.state && walks.is_known(state));
  }
}

// A plan bounds every state on it, and following the steps leads to a goal.
void check_bounds(Random& random, const CompiledTask& compiled, const State& start, Cost cost) {
  if (cost == kInfinity) return;
  StateStore store(compiled);
  RunGraph graph(store);
  Bounds bounds(store, &graph);
  std::int32_t state = -1;
  CHECK(store.add(1, start.data(), &state));
  std::vector<std::int32_t> plan;
  for (std::int32_t here = state; plan.size() < 200;) {
    std::uint8_t is_goal = 0;
    CHECK(store.is_goal(1, &here, &is_goal));
    if (is_goal != 0) break;
    std::int64_t begin[2] = {0, 0};
    CHECK(store.count_applicable(1, &here, begin));
    if (begin[1] == 0) return;
    std::vector<std::int32_t> operators(static_cast<std::size_t>(begin[1]));
    CHECK(store.applicable(1, &here, operators.data()));
    plan.push_back(operators[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(begin[1])))]);
    const std::int32_t before = here;
    CHECK(store.apply(1, &before, &plan.back(), &here));
  }
  CHECK(bounds.add_plan(state, plan, 2));
  if (bounds.u(state) == kInfinity) return;  // the walk found no goal
  CHECK(bounds.u(state) >= cost);
  Cost left = bounds.u(state);
  for (std::int32_t here = state; bounds.step(here).via != Bounds::kGoal; here = bounds.step(here).next) {
    left -= compiled.task.costs[static_cast<std::size_t>(bounds.step(here).via)];
    CHECK(bounds.u(bounds.step(here).next) == left);
  }
  CHECK(left == 0 && bounds.plans() == nullptr);
}

void check_task(Random& random, std::int32_t n_fillers) {
  const CompiledTask compiled(random_task(random, n_fillers));
  const State start = random_state(random, compiled.task);
  StateStore store(compiled);
  std::int32_t id = -1;
  CHECK(store.add(1, start.data(), &id) && id == 0);
  Progress progress{};
  Monitor monitor(kNoLimits, &progress);
  store.close(monitor);
  const std::vector<Cost> costs = store.optimal_costs(compiled.task.goal, monitor);
  check_states(compiled, store);
  check_searches(compiled, start, costs[0]);
  check_relaxed_goal(compiled, store);
  check_walks(random, compiled, start);
  check_bounds(random, compiled, start, costs[0]);
  check_actions(compiled, start, store, costs);
  check_abstractions(compiled, start, store, costs);
  check_runs(random, compiled);

  const RelevantPart& part = compiled.relevant();
  State projected;
  for (const std::int32_t v : part.variables) projected.push_back(start[static_cast<std::size_t>(v)]);
  check_searches(part.compiled, projected, costs[0]);
}

// Enough states for the table to widen and its blocks to move many times.
void check_growth() {
  Task task;
  task.domain_sizes = {1000, 400};
  task.fact_offset = {0, 1000, 1400};
  task.preconditions.begin = {0};
  task.effects.begin = {0};
  const CompiledTask compiled(std::move(task));
  StateStore store(compiled);
  const std::int32_t n = 400'000;
  for (const bool is_second_time : {false, true}) {
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t values[] = {i % 1000, i / 1000};
      std::int32_t id = -1;
      CHECK((is_second_time ? store.find(1, values, &id) : store.add(1, values, &id)) && id == i);
    }
  }
  CHECK(store.size() == n);
}

}  // namespace
}  // namespace plumbline::testing

int main() {
  using namespace plumbline::testing;
  constexpr std::int32_t kTasks = 150;
  for (std::int32_t seed = 0; seed < kTasks; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    check_task(random, seed % 3 == 0 ? 0 : random.below(30));
    check_dominance(random);
  }
  check_growth();
  std::printf("%d tasks\n", kTasks);
}
