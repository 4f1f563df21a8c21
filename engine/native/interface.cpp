// The C interface of the kernels: the only symbols the library exports. Handles are opaque, every call answers with
// a status, no exception leaves. Array sizes are the caller's business (engine/native/library.py checks them),
// their contents are checked here.
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "compiled_task.hpp"
#include "state_store.hpp"
#include "task.hpp"

#define PLUMBLINE_API extern "C" __attribute__((visibility("default")))

namespace {

using plumbline::CompiledTask;
using plumbline::Cost;
using plumbline::Fact;
using plumbline::FactRows;
using plumbline::StateStore;
using plumbline::Task;

enum Status : std::int32_t { kDone = 0, kOutOfMemory = 1, kBadArgument = 2, kDefect = 3 };

template <class Body>
std::int32_t guarded(Body&& body) {
  try {
    return body() ? kDone : kBadArgument;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (...) {
    return kDefect;
  }
}

std::vector<Fact> to_facts(std::int64_t n, const std::int32_t* pairs) {
  std::vector<Fact> facts(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i] = {pairs[2 * i], pairs[2 * i + 1]};
  return facts;
}

FactRows to_rows(std::int32_t n_rows, const std::int32_t* begin, const std::int32_t* pairs) {
  return {std::vector<std::int32_t>(begin, begin + n_rows + 1), to_facts(begin[n_rows], pairs)};
}

// Facts exist, and in each row every variable occurs once, in ascending order.
bool well_formed(const Task& task, std::span<const Fact> facts) {
  std::int32_t previous = -1;
  for (const Fact fact : facts) {
    if (fact.variable <= previous || fact.variable >= task.n_variables()) return false;
    if (fact.value < 0 || fact.value >= task.domain_sizes[static_cast<std::size_t>(fact.variable)]) return false;
    previous = fact.variable;
  }
  return true;
}

bool well_formed(const Task& task) {
  for (const std::int32_t size : task.domain_sizes) {
    if (size < 1) return false;
  }
  for (std::int32_t op = 0; op < task.n_operators(); ++op) {
    if (!well_formed(task, task.preconditions[op]) || !well_formed(task, task.effects[op])) return false;
    if (task.costs[static_cast<std::size_t>(op)] < 0) return false;
  }
  return well_formed(task, task.goal);
}

}  // namespace

PLUMBLINE_API std::int32_t plumbline_abi_version() { return 2; }

PLUMBLINE_API std::int32_t plumbline_task_create(std::int32_t n_variables, const std::int32_t* domain_sizes,
                                                 std::int32_t n_operators, const std::int32_t* pre_begin,
                                                 const std::int32_t* preconditions,
                                                 const std::int32_t* eff_begin, const std::int32_t* effects,
                                                 const std::int64_t* costs, std::int32_t n_goals,
                                                 const std::int32_t* goal, CompiledTask** result) {
  return guarded([&] {
    Task task;
    task.domain_sizes.assign(domain_sizes, domain_sizes + n_variables);
    task.fact_offset.push_back(0);
    for (const std::int32_t size : task.domain_sizes) task.fact_offset.push_back(task.fact_offset.back() + size);
    task.preconditions = to_rows(n_operators, pre_begin, preconditions);
    task.effects = to_rows(n_operators, eff_begin, effects);
    task.costs.assign(costs, costs + n_operators);
    task.goal = to_facts(n_goals, goal);
    if (!well_formed(task)) return false;
    *result = std::make_unique<CompiledTask>(std::move(task)).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_task_destroy(CompiledTask* task) { std::unique_ptr<CompiledTask>{task}.reset(); }

PLUMBLINE_API std::int32_t plumbline_states_create(const CompiledTask* task, StateStore** result) {
  return guarded([&] {
    *result = std::make_unique<StateStore>(*task).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_states_destroy(StateStore* states) { std::unique_ptr<StateStore>{states}.reset(); }

PLUMBLINE_API std::int64_t plumbline_states_size(const StateStore* states) { return states->size(); }

PLUMBLINE_API std::int64_t plumbline_states_bytes(const StateStore* states) { return states->bytes(); }

PLUMBLINE_API std::int32_t plumbline_states_add(StateStore* states, std::int64_t n, const std::int32_t* values,
                                                std::int32_t* ids) {
  return guarded([&] { return states->add(n, values, ids); });
}

PLUMBLINE_API std::int32_t plumbline_states_find(StateStore* states, std::int64_t n, const std::int32_t* values,
                                                 std::int32_t* ids) {
  return guarded([&] { return states->find(n, values, ids); });
}

PLUMBLINE_API std::int32_t plumbline_states_values(StateStore* states, std::int64_t n, const std::int32_t* ids,
                                                   std::int32_t* values) {
  return guarded([&] { return states->values(n, ids, values); });
}

PLUMBLINE_API std::int32_t plumbline_states_is_goal(StateStore* states, std::int64_t n, const std::int32_t* ids,
                                                    std::uint8_t* answers) {
  return guarded([&] { return states->is_goal(n, ids, answers); });
}

PLUMBLINE_API std::int32_t plumbline_states_count_applicable(StateStore* states, std::int64_t n,
                                                             const std::int32_t* ids, std::int64_t* row_begin) {
  return guarded([&] { return states->count_applicable(n, ids, row_begin); });
}

PLUMBLINE_API std::int32_t plumbline_states_applicable(StateStore* states, std::int64_t n,
                                                       const std::int32_t* ids, std::int32_t* operators) {
  return guarded([&] { return states->applicable(n, ids, operators); });
}

PLUMBLINE_API std::int32_t plumbline_states_apply(StateStore* states, std::int64_t n, const std::int32_t* ids,
                                                  const std::int32_t* operators, std::int32_t* successors) {
  return guarded([&] { return states->apply(n, ids, operators, successors); });
}
