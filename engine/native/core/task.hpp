// The grounded task as the kernels see it: flat arrays, no names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace plumbline {

using Cost = std::int64_t;

// "Infinite" for costs and heuristic values; never takes part in an addition.
inline constexpr Cost kInfinity = std::numeric_limits<Cost>::max();

struct Fact {
  std::int32_t variable;
  std::int32_t value;
  bool operator==(const Fact&) const = default;
};

// Operators in compressed rows: those of operator o lie in [begin[o], begin[o + 1]).
struct FactRows {
  std::vector<std::int32_t> begin;
  std::vector<Fact> facts;

  std::span<const Fact> operator[](std::int32_t row) const {
    const auto first = static_cast<std::size_t>(begin[static_cast<std::size_t>(row)]);
    const auto last = static_cast<std::size_t>(begin[static_cast<std::size_t>(row) + 1]);
    return {facts.data() + first, last - first};
  }
};

// Effects that take place only where a condition held before the step. In their order: of several that fire
// on one variable the last counts, and all of them come after the operator's other effects.
struct ConditionalEffects {
  std::vector<std::int32_t>
      begin;                // those of operator o lie in [begin[o], begin[o + 1]); empty if there are none
  FactRows conditions;      // by conditional effect, sorted by variable
  std::vector<Fact> facts;  // by conditional effect

  bool empty() const { return facts.empty(); }
  bool has(std::int32_t op) const { return !empty() && first(op) < last(op); }
  std::int32_t first(std::int32_t op) const { return empty() ? 0 : begin[static_cast<std::size_t>(op)]; }
  std::int32_t last(std::int32_t op) const { return empty() ? 0 : begin[static_cast<std::size_t>(op) + 1]; }
  Fact fact(std::int32_t effect) const { return facts[static_cast<std::size_t>(effect)]; }
};

// Rules that give derived variables, which have two values, the one that is not their default.
struct Axioms {
  std::vector<std::int32_t> layer;          // by variable, -1: a state variable; empty if none is derived
  std::vector<std::int32_t> default_value;  // by variable
  std::vector<std::int32_t> heads;          // by rule
  FactRows bodies;                          // by rule, sorted by variable

  bool empty() const { return layer.empty(); }
  bool is_derived(std::int32_t variable) const {
    return !empty() && layer[static_cast<std::size_t>(variable)] >= 0;
  }
  std::int32_t n_rules() const { return static_cast<std::int32_t>(heads.size()); }
  std::int32_t head(std::int32_t rule) const { return heads[static_cast<std::size_t>(rule)]; }
  std::int32_t default_of(std::int32_t variable) const {
    return default_value[static_cast<std::size_t>(variable)];
  }
};

struct Task {
  std::vector<std::int32_t> domain_sizes;
  std::vector<std::int32_t> fact_offset;  // fact (v, x) is number fact_offset[v] + x; last entry: the total
  FactRows preconditions;                 // by operator, sorted by variable
  FactRows effects;                       // by operator, sorted by variable
  std::vector<Cost> costs;
  std::vector<Fact> goal;
  ConditionalEffects conditional;
  Axioms axioms;

  std::int32_t n_variables() const { return static_cast<std::int32_t>(domain_sizes.size()); }
  std::int32_t n_operators() const { return static_cast<std::int32_t>(costs.size()); }
  std::int32_t n_facts() const { return fact_offset.back(); }
  std::int32_t fact_number(Fact fact) const {
    return fact_offset[static_cast<std::size_t>(fact.variable)] + fact.value;
  }
};

}  // namespace plumbline
