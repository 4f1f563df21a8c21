// The C interface of tasks, states and searches; the files of this folder hold all symbols that the library
// exports. Handles are opaque, calls that can fail return a status, and no exception leaves. Python checks
// the sizes of arrays (engine/native/library.py), this code checks their contents.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/state_store.hpp"
#include "core/task.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "heuristics/table_heuristic.hpp"
#include "interface/checked_input.hpp"
#include "interface/guarded.hpp"
#include "search/aras.hpp"
#include "search/heuristic_searches.hpp"
#include "search/search.hpp"

namespace plumbline {

// Defined in the translation units that CMake makes from heuristics/kernels.cpp.in.
#define HEURISTIC(number, ...) HeuristicKernels heuristic_kernels_##number();
#include "heuristics/heuristics.def"
#undef HEURISTIC

}  // namespace plumbline

namespace {

using namespace plumbline;

// One state, with what packing it and applying operators to it needs.
class OneState {
 public:
  explicit OneState(const CompiledTask& compiled)
      : compiled_(compiled),
        state_(static_cast<std::size_t>(compiled.packing.n_words())),
        successor_(state_.size()),
        values_(compiled.task.domain_sizes.size()) {}

  // The values with derived ones computed; nothing if one is outside its variable's domain.
  const std::int32_t* set(const std::int32_t* values) {
    if (!compiled_.pack(values, state_.data())) return nullptr;
    compiled_.packing.unpack(state_.data(), values_.data());
    return values_.data();
  }

  // The values after an operator; nothing if it is not applicable.
  const std::int32_t* apply(std::int32_t op) {
    const std::size_t position = compiled_.position[static_cast<std::size_t>(op)];
    if (!compiled_.preconditions[position].holds_in(state_.data())) return nullptr;
    compiled_.operators.apply(position, state_.data(), successor_.data());
    compiled_.packing.unpack(successor_.data(), values_.data());
    return values_.data();
  }

 private:
  const CompiledTask& compiled_;
  std::vector<Word> state_;
  std::vector<Word> successor_;
  std::vector<std::int32_t> values_;
};

struct RegisteredHeuristic {
  std::int32_t number;
  bool is_admissible;
  HeuristicKernels (*kernels)();
};

constexpr bool kAdmissible = true;
constexpr bool kInadmissible = false;
constexpr RegisteredHeuristic kHeuristics[] = {
#define HEURISTIC(number, name, traits, ...) {number, traits, &heuristic_kernels_##number},
#include "heuristics/heuristics.def"
#undef HEURISTIC
};
constexpr std::int32_t kNumHeuristics = static_cast<std::int32_t>(std::size(kHeuristics));

constexpr bool numbers_are_positions() {
  for (std::int32_t i = 0; i < kNumHeuristics; ++i) {
    if (kHeuristics[i].number != i) return false;
  }
  return true;
}
static_assert(numbers_are_positions());

bool is_heuristic(std::int32_t number) {
  return number == kTableHeuristic || (number >= 0 && number < kNumHeuristics);
}

// A table is trusted: it is the caller who says that it is admissible.
bool is_admissible(std::int32_t number) {
  return number == kTableHeuristic || kHeuristics[number].is_admissible;
}

std::vector<std::int32_t> project(const RelevantPart& part, const std::vector<std::int32_t>& whole) {
  std::vector<std::int32_t> values;
  for (const std::int32_t variable : part.variables)
    values.push_back(whole[static_cast<std::size_t>(variable)]);
  return values;
}

// For the task's own goal, without what does not matter to it.
SearchResult search_relevant_part(const HeuristicKernels& kernels, Algorithm algorithm,
                                  const SearchRequest& whole, Monitor& monitor) {
  const RelevantPart& part = whole.compiled.relevant();
  SearchRequest request{part.compiled, project(part, whole.start), part.compiled.task.goal,
                        whole.bound,   whole.is_admissible,        whole.action};
  if (request.action) request.action->successor = project(part, request.action->successor);
  SearchResult result = kernels.search(algorithm, request, monitor);
  for (std::int32_t& op : result.plan) op = part.operators[static_cast<std::size_t>(op)];
  return result;
}

// `table` has a value for every state by rank if the heuristic is kTableHeuristic.
SearchResult search(Algorithm algorithm, std::int32_t heuristic, std::span<const Cost> table,
                    const SearchRequest& request, Monitor& monitor) {
  if (heuristic == kTableHeuristic) {
    TableHeuristic values(request.compiled.task, table);
    return heuristic_search(algorithm, request, values, monitor);
  }
  const HeuristicKernels kernels = kHeuristics[heuristic].kernels();
  if (request.goal == request.compiled.task.goal) {
    return search_relevant_part(kernels, algorithm, request, monitor);
  }
  return kernels.search(algorithm, request, monitor);
}

void hand_over(Outcome outcome, std::unique_ptr<SearchResult> found, SearchAnswer* answer,
               SearchResult** result) {
  *answer = {outcome, found->cost, found->lower_bound, static_cast<std::int64_t>(found->plan.size())};
  *result = found.release();
}

}  // namespace

PLUMBLINE_API std::int32_t plumbline_abi_version() { return kAbiVersion; }

// The heuristics as this library knows them, one line each: number, name and traits.
PLUMBLINE_API const char* plumbline_heuristics() {
  return ""
#define HEURISTIC(number, name, traits, ...) #number " " name " " #traits "\n"
#include "heuristics/heuristics.def"
#undef HEURISTIC
      ;
}

PLUMBLINE_API Status plumbline_task_create(std::int32_t n_variables, const std::int32_t* domain_sizes,
                                           std::int32_t n_operators, const std::int32_t* pre_begin,
                                           const std::int32_t* preconditions, const std::int32_t* eff_begin,
                                           const std::int32_t* effects, const std::int64_t* costs,
                                           std::int32_t n_goals, const std::int32_t* goal,
                                           const LaterParts* later, CompiledTask** result) {
  return guarded([&] {
    Task task;
    task.domain_sizes.assign(domain_sizes, domain_sizes + n_variables);
    task.fact_offset.push_back(0);
    for (const std::int32_t size : task.domain_sizes) {
      if (size < 1 || size > std::numeric_limits<std::int32_t>::max() - task.n_facts()) return false;
      task.fact_offset.push_back(task.n_facts() + size);
    }
    task.preconditions = to_rows(n_operators, pre_begin, preconditions);
    task.effects = to_rows(n_operators, eff_begin, effects);
    task.costs.assign(costs, costs + n_operators);
    task.goal = to_facts(n_goals, goal);
    task.conditional = to_conditional(n_operators, *later);
    task.axioms = to_axioms(n_variables, *later);
    if (!well_formed(task)) return false;
    *result = std::make_unique<CompiledTask>(std::move(task)).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_task_destroy(CompiledTask* task) { std::unique_ptr<CompiledTask>{task}.reset(); }

PLUMBLINE_API Status plumbline_states_create(const CompiledTask* task, StateStore** result) {
  return guarded([&] {
    *result = std::make_unique<StateStore>(*task).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_states_destroy(StateStore* states) {
  std::unique_ptr<StateStore>{states}.reset();
}

PLUMBLINE_API std::int64_t plumbline_states_size(const StateStore* states) { return states->size(); }

PLUMBLINE_API std::int64_t plumbline_states_bytes(const StateStore* states) { return states->bytes(); }

PLUMBLINE_API Status plumbline_states_add(StateStore* states, std::int64_t n, const std::int32_t* values,
                                          std::int32_t* ids) {
  return guarded([&] { return states->add(n, values, ids); });
}

PLUMBLINE_API Status plumbline_states_find(StateStore* states, std::int64_t n, const std::int32_t* values,
                                           std::int32_t* ids) {
  return guarded([&] { return states->find(n, values, ids); });
}

PLUMBLINE_API Status plumbline_states_values(StateStore* states, std::int64_t n, const std::int32_t* ids,
                                             std::int32_t* values) {
  return guarded([&] { return states->values(n, ids, values); });
}

PLUMBLINE_API Status plumbline_states_is_goal(StateStore* states, std::int64_t n, const std::int32_t* ids,
                                              std::uint8_t* answers) {
  return guarded([&] { return states->is_goal(n, ids, answers); });
}

PLUMBLINE_API Status plumbline_states_count_applicable(StateStore* states, std::int64_t n,
                                                       const std::int32_t* ids, std::int64_t* row_begin) {
  return guarded([&] { return states->count_applicable(n, ids, row_begin); });
}

PLUMBLINE_API Status plumbline_states_applicable(StateStore* states, std::int64_t n, const std::int32_t* ids,
                                                 std::int32_t* operators) {
  return guarded([&] { return states->applicable(n, ids, operators); });
}

PLUMBLINE_API Status plumbline_states_apply(StateStore* states, std::int64_t n, const std::int32_t* ids,
                                            const std::int32_t* operators, std::int32_t* successors) {
  return guarded([&] { return states->apply(n, ids, operators, successors); });
}

// Adds every state that can be reached from those in the table.
PLUMBLINE_API Status plumbline_states_close(StateStore* states, const Limits* limits, Progress* progress,
                                            Outcome* outcome) {
  return guarded([&] {
    Monitor monitor(*limits, progress);
    *outcome = run_limited(monitor, [&] {
      states->close(monitor);
      return Outcome::kSolved;
    });
    return true;
  });
}

// h* of every state in the table, which must be closed under successors.
PLUMBLINE_API Status plumbline_states_optimal_costs(StateStore* states, std::int32_t n_goals,
                                                    const std::int32_t* goal, const Limits* limits,
                                                    Progress* progress, std::int64_t* costs,
                                                    Outcome* outcome) {
  return guarded([&] {
    const std::vector<Fact> facts = to_facts(n_goals, goal);
    if (!well_formed(states->task(), facts)) return false;
    Monitor monitor(*limits, progress);
    *outcome = run_limited(monitor, [&] {
      const std::vector<Cost> found = states->optimal_costs(facts, monitor);
      std::copy(found.begin(), found.end(), costs);
      return Outcome::kSolved;
    });
    return true;
  });
}

PLUMBLINE_API Status plumbline_search(const CompiledTask* task, std::int32_t algorithm,
                                      std::int32_t heuristic, const std::int64_t* table,
                                      std::int64_t table_size, const std::int32_t* start,
                                      std::int32_t n_goals, const std::int32_t* goal, std::int64_t bound,
                                      const Limits* limits, Progress* progress, SearchAnswer* answer,
                                      SearchResult** result) {
  return guarded([&] {
    SearchRequest request{*task, {start, start + task->task.n_variables()}, to_facts(n_goals, goal), bound};
    if (!in_domains(task->task, start) || !well_formed(task->task, request.goal)) return false;
    if (!is_heuristic(heuristic)) return false;
    if (algorithm < 0 || algorithm >= static_cast<std::int32_t>(Algorithm::kAocaStar)) return false;
    request.is_admissible = is_admissible(heuristic);
    const auto chosen = static_cast<Algorithm>(algorithm);
    auto found = std::make_unique<SearchResult>();
    Monitor monitor(*limits, progress);
    const Outcome outcome = run_limited(monitor, [&] {
      *found = search(chosen, heuristic, {table, static_cast<std::size_t>(table_size)}, request, monitor);
      return found->outcome;
    });
    if (outcome != found->outcome && chosen == Algorithm::kAstar && request.is_admissible) {
      found->lower_bound = monitor.best;
    }
    hand_over(outcome, std::move(found), answer, result);
    return true;
  });
}

// AOCA* from `start` about an action that costs `action_cost` and leads to `successor`. `plan_cost` is that
// of a plan from `start`, infinite if none is known. The plan found, if any, comes after the action if that
// is optimal.
PLUMBLINE_API Status plumbline_check_action(const CompiledTask* task, std::int32_t heuristic,
                                            const std::int64_t* table, std::int64_t table_size,
                                            const std::int32_t* start, const std::int32_t* successor,
                                            std::int64_t action_cost, std::int32_t is_solvable,
                                            std::int64_t plan_cost, const Limits* limits, Progress* progress,
                                            SearchAnswer* answer, SearchResult** result) {
  return guarded([&] {
    const std::int32_t n = task->task.n_variables();
    const SearchRequest request{
        *task,
        {start, start + n},
        task->task.goal,
        kInfinity,
        true,
        ActionQuestion{{successor, successor + n}, action_cost, is_solvable != 0, plan_cost}};
    if (!in_domains(task->task, start) || !in_domains(task->task, successor)) return false;
    if (!is_heuristic(heuristic) || !is_admissible(heuristic)) return false;
    if (action_cost < 0 || action_cost > kMaxOperatorCost || plan_cost < 0) return false;
    auto found = std::make_unique<SearchResult>();
    Monitor monitor(*limits, progress);
    const Outcome outcome = run_limited(monitor, [&] {
      *found = search(Algorithm::kAocaStar, heuristic, {table, static_cast<std::size_t>(table_size)}, request,
                      monitor);
      return found->outcome;
    });
    if (outcome != found->outcome) found->lower_bound = monitor.best;
    hand_over(outcome, std::move(found), answer, result);
    return true;
  });
}

PLUMBLINE_API void plumbline_result_plan(const SearchResult* result, std::int32_t* operators) {
  std::copy(result->plan.begin(), result->plan.end(), operators);
}

PLUMBLINE_API void plumbline_result_destroy(SearchResult* result) {
  std::unique_ptr<SearchResult>{result}.reset();
}

PLUMBLINE_API Status plumbline_evaluator_create(const CompiledTask* task, std::int32_t heuristic,
                                                std::int32_t n_goals, const std::int32_t* goal,
                                                Evaluator** result) {
  return guarded([&] {
    const std::vector<Fact> facts = to_facts(n_goals, goal);
    if (heuristic < 0 || heuristic >= kNumHeuristics || !well_formed(task->task, facts)) return false;
    const HeuristicKernels kernels = kHeuristics[heuristic].kernels();
    if (kernels.make_evaluator == nullptr) return false;
    auto evaluator = kernels.make_evaluator(task->task);
    if (facts != task->task.goal) evaluator->set_goal(facts);
    *result = evaluator.release();
    return true;
  });
}

PLUMBLINE_API void plumbline_evaluator_destroy(Evaluator* evaluator) {
  std::unique_ptr<Evaluator>{evaluator}.reset();
}

PLUMBLINE_API Status plumbline_evaluator_values(Evaluator* evaluator, const CompiledTask* task,
                                                std::int64_t n, const std::int32_t* states,
                                                std::int64_t* values) {
  return guarded([&] {
    OneState one(*task);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t* state = one.set(states + i * task->task.n_variables());
      if (state == nullptr) return false;
      values[i] = evaluator->evaluate(state);
    }
    return true;
  });
}

// The values of a state's successors by operator, as a search from that state computes them.
PLUMBLINE_API Status plumbline_evaluator_successors(Evaluator* evaluator, const CompiledTask* task,
                                                    const std::int32_t* state, std::int64_t n,
                                                    const std::int32_t* operators, std::int64_t* values) {
  return guarded([&] {
    OneState one(*task);
    const std::int32_t* start = one.set(state);
    if (start == nullptr || !are_operators(task->task, n, operators)) return false;
    evaluator->expand(start);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t* successor = one.apply(operators[i]);
      if (successor == nullptr) return false;
      values[i] = evaluator->evaluate_successor(successor, operators[i]);
    }
    return true;
  });
}

// `progress` must outlive the result. An invalid plan is a bad argument.
PLUMBLINE_API Status plumbline_aras_create(const CompiledTask* task, const std::int32_t* start,
                                           std::int32_t n_goals, const std::int32_t* goal,
                                           std::int64_t plan_length, const std::int32_t* plan,
                                           std::int64_t first_size, std::int64_t max_states,
                                           const Limits* limits, Progress* progress, ArasRun** result) {
  return guarded([&] {
    SearchRequest request{*task, {start, start + task->task.n_variables()}, to_facts(n_goals, goal)};
    if (!in_domains(task->task, start) || !well_formed(task->task, request.goal)) return false;
    if (!are_operators(task->task, plan_length, plan) || first_size < 1 || max_states < 1) return false;
    auto run =
        std::make_unique<ArasRun>(std::move(request), std::vector<std::int32_t>(plan, plan + plan_length),
                                  first_size, max_states, *limits, progress);
    if (!run->aras.plan_is_valid()) return false;
    *result = run.release();
    return true;
  });
}

PLUMBLINE_API void plumbline_aras_destroy(ArasRun* run) { std::unique_ptr<ArasRun>{run}.reset(); }

// Works until the plan is cheaper, or proved optimal, or a limit is reached; `answer` receives the outcome,
// and the cost and the length of the plan as it is now.
PLUMBLINE_API Status plumbline_aras_improve(ArasRun* run, SearchAnswer* answer) {
  return guarded([&] {
    const Outcome outcome = run_limited(run->monitor, [&] { return run->aras.improve(); });
    *answer = {outcome, run->aras.cost(), 0, static_cast<std::int64_t>(run->aras.plan().size())};
    return true;
  });
}

PLUMBLINE_API void plumbline_aras_plan(const ArasRun* run, std::int32_t* operators) {
  const std::vector<std::int32_t> plan = run->aras.plan();
  std::copy(plan.begin(), plan.end(), operators);
}
