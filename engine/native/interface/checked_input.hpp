// What comes in through the C interface: turned into the kernels' own types, and checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/task.hpp"
#include "interface/abi.hpp"
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

inline ConditionalEffects to_conditional(std::int32_t n_operators, const LaterParts& parts) {
  if (parts.n_conditional == 0) return {};
  const auto n = static_cast<std::int32_t>(parts.n_conditional);
  return {std::vector<std::int32_t>(parts.conditional_begin, parts.conditional_begin + n_operators + 1),
          to_rows(n, parts.condition_begin, parts.conditions), to_facts(n, parts.conditional_facts)};
}

inline Axioms to_axioms(std::int32_t n_variables, const LaterParts& parts) {
  if (parts.layer == nullptr) return {};
  const auto n = static_cast<std::int32_t>(parts.n_rules);
  return {std::vector<std::int32_t>(parts.layer, parts.layer + n_variables),
          std::vector<std::int32_t>(parts.default_value, parts.default_value + n_variables),
          std::vector<std::int32_t>(parts.heads, parts.heads + n),
          to_rows(n, parts.body_begin, parts.bodies)};
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

// Each is about the rows of one operator or rule: conditions of effects on state variables; bodies that ask
// for defaults of lower layers only.
inline bool well_formed(const Task& task, const ConditionalEffects& conditional) {
  for (std::size_t i = 0; i < conditional.facts.size(); ++i) {
    const Fact fact = conditional.facts[i];
    if (!well_formed(task, {&fact, 1}) || task.axioms.is_derived(fact.variable)) return false;
    if (!well_formed(task, conditional.conditions[static_cast<std::int32_t>(i)])) return false;
  }
  return true;
}

inline bool well_formed(const Task& task, const Axioms& axioms) {
  for (std::size_t v = 0; v < axioms.layer.size(); ++v) {
    if (axioms.layer[v] < -1) return false;
    if (axioms.layer[v] >= 0 &&
        (task.domain_sizes[v] != 2 || axioms.default_value[v] < 0 || axioms.default_value[v] > 1)) {
      return false;
    }
  }
  for (std::int32_t rule = 0; rule < axioms.n_rules(); ++rule) {
    const std::int32_t head = axioms.head(rule);
    if (head < 0 || head >= task.n_variables() || !axioms.is_derived(head)) return false;
    if (!well_formed(task, axioms.bodies[rule])) return false;
    const std::int32_t layer = axioms.layer[static_cast<std::size_t>(head)];
    for (const Fact fact : axioms.bodies[rule]) {
      const std::int32_t other = axioms.layer[static_cast<std::size_t>(fact.variable)];
      if (other > layer || (other == layer && fact.value == axioms.default_of(fact.variable))) return false;
    }
  }
  return true;
}

inline bool well_formed(const Task& task) {
  if (!well_formed(task, task.axioms) || !well_formed(task, task.conditional)) return false;
  for (std::int32_t op = 0; op < task.n_operators(); ++op) {
    for (const Fact fact : task.effects[op]) {
      if (fact.variable < 0 || fact.variable >= task.n_variables()) return false;
      if (task.axioms.is_derived(fact.variable)) return false;
    }
  }
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
