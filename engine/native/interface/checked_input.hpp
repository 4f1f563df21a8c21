// What comes in through the C interface: turned into the kernels' own types, and checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

inline std::vector<Fact> to_facts(std::int64_t n, const std::int32_t* pairs) {
  std::vector<Fact> facts(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i] = {pairs[2 * i], pairs[2 * i + 1]};
  return facts;
}

inline FactRows to_rows(std::int32_t n_rows, const std::int32_t* begin, const std::int32_t* pairs) {
  return {std::vector<std::int32_t>(begin, begin + n_rows + 1), to_facts(begin[n_rows], pairs)};
}

// Facts exist, and in each row every variable occurs once, in ascending order.
inline bool well_formed(const Task& task, std::span<const Fact> facts) {
  std::int32_t previous = -1;
  for (const Fact fact : facts) {
    if (fact.variable <= previous || fact.variable >= task.n_variables()) return false;
    if (fact.value < 0 || fact.value >= task.domain_sizes[static_cast<std::size_t>(fact.variable)])
      return false;
    previous = fact.variable;
  }
  return true;
}

inline bool well_formed(const Task& task) {
  for (std::int32_t op = 0; op < task.n_operators(); ++op) {
    if (!well_formed(task, task.preconditions[op]) || !well_formed(task, task.effects[op])) return false;
    const Cost cost = task.costs[static_cast<std::size_t>(op)];
    if (cost < 0 || cost > kMaxOperatorCost) return false;
  }
  return well_formed(task, task.goal);
}

inline bool in_domains(const Task& task, const std::int32_t* values) {
  for (std::size_t v = 0; v < task.domain_sizes.size(); ++v) {
    if (values[v] < 0 || values[v] >= task.domain_sizes[v]) return false;
  }
  return true;
}

inline bool are_operators(const Task& task, std::int64_t n, const std::int32_t* operators) {
  return std::all_of(operators, operators + n,
                     [&](std::int32_t op) { return op >= 0 && op < task.n_operators(); });
}

}  // namespace plumbline
