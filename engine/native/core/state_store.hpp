// The state table of a task as the rest of the program sees it: batches of unpacked states in and out,
// successors by id, operators by their number in the task.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/memory.hpp"
#include "core/state_table.hpp"
#include "search/exhaustive.hpp"
#include "search/search.hpp"

namespace plumbline {

class StateStore {
 public:
  explicit StateStore(const CompiledTask& compiled)
      : compiled_(compiled),
        goal_(compiled.task.goal, compiled.packing),
        table_(compiled.packing.n_words(), account_),
        state_(static_cast<std::size_t>(compiled.packing.n_words())),
        successor_(state_.size()) {}

  const Task& task() const { return compiled_.task; }
  std::int64_t size() const { return table_.size(); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(account_.used()); }
  bool has(std::int64_t id) const { return id >= 0 && id < size(); }

  // All of these return false on a value outside its domain, an unknown id or an unknown operator.
  bool add(std::int64_t n, const std::int32_t* values, std::int32_t* ids) {
    return for_each_packed(n, values, [&](std::int64_t i) {
      ids[i] = static_cast<std::int32_t>(table_.insert(state_.data(), table_.hash(state_.data())).id);
    });
  }

  // -1 for states that are not in the table.
  bool find(std::int64_t n, const std::int32_t* values, std::int32_t* ids) {
    return for_each_packed(n, values, [&](std::int64_t i) {
      ids[i] = static_cast<std::int32_t>(table_.find(state_.data(), table_.hash(state_.data())));
    });
  }

  bool values(std::int64_t n, const std::int32_t* ids, std::int32_t* values) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (!load(ids[i])) return false;
      compiled_.packing.unpack(state_.data(), values + i * compiled_.packing.n_variables());
    }
    return true;
  }

  bool is_goal(std::int64_t n, const std::int32_t* ids, std::uint8_t* answers) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (!load(ids[i])) return false;
      answers[i] = goal_.holds_in(state_.data());
    }
    return true;
  }

  // row_begin[i]: how many applicable operators the states before ids[i] have; one more entry for the total.
  bool count_applicable(std::int64_t n, const std::int32_t* ids, std::int64_t* row_begin) {
    row_begin[0] = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!load(ids[i])) return false;
      std::int64_t count = 0;
      compiled_.generator.for_each_block(
          state_.data(), [&count](std::size_t, std::uint64_t bits) { count += std::popcount(bits); });
      row_begin[i + 1] = row_begin[i] + count;
    }
    return true;
  }

  // The rows that `count_applicable` has measured; in each row operators ascend.
  bool applicable(std::int64_t n, const std::int32_t* ids, std::int32_t* operators) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (!load(ids[i])) return false;
      std::int32_t* const row = operators;
      compiled_.generator.for_each_applicable(state_.data(), [&](std::int32_t begin, std::int32_t end) {
        operators = std::copy(compiled_.generator.order().begin() + begin,
                              compiled_.generator.order().begin() + end, operators);
      });
      std::sort(row, operators);
    }
    return true;
  }

  // -1 where the operator is not applicable.
  bool apply(std::int64_t n, const std::int32_t* ids, const std::int32_t* operators,
             std::int32_t* successors) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (operators[i] < 0 || operators[i] >= compiled_.task.n_operators() || !load(ids[i])) return false;
      const std::size_t position = compiled_.position[static_cast<std::size_t>(operators[i])];
      if (!compiled_.preconditions[position].holds_in(state_.data())) {
        successors[i] = -1;
        continue;
      }
      compiled_.operators.apply(position, state_.data(), successor_.data());
      successors[i] =
          static_cast<std::int32_t>(table_.insert(successor_.data(), table_.hash(successor_.data())).id);
    }
    return true;
  }

  // Adds every state that can be reached.
  void close(Monitor& monitor) { close_under_successors(compiled_, table_, monitor); }

  // h* by id; the table must be closed.
  std::vector<Cost> optimal_costs(std::span<const Fact> goal, Monitor& monitor) {
    return plumbline::optimal_costs(compiled_, table_, goal, monitor);
  }

 private:
  template <class Use>
  bool for_each_packed(std::int64_t n, const std::int32_t* values, Use&& use) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (!compiled_.pack(values + i * compiled_.packing.n_variables(), state_.data())) return false;
      use(i);
    }
    return true;
  }

  bool load(std::int32_t id) {
    if (!has(id)) return false;
    table_.load(static_cast<StateId>(id), state_.data());
    return true;
  }

  const CompiledTask& compiled_;
  PartialState goal_;
  MemoryAccount account_;
  StateTable<0> table_;
  std::vector<Word> state_;
  std::vector<Word> successor_;
};

}  // namespace plumbline
