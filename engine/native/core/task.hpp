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

struct Task {
  std::vector<std::int32_t> domain_sizes;
  std::vector<std::int32_t> fact_offset;  // fact (v, x) is number fact_offset[v] + x; last entry: the total
  FactRows preconditions;                 // by operator, sorted by variable
  FactRows effects;                       // by operator, sorted by variable
  std::vector<Cost> costs;
  std::vector<Fact> goal;

  std::int32_t n_variables() const { return static_cast<std::int32_t>(domain_sizes.size()); }
  std::int32_t n_operators() const { return static_cast<std::int32_t>(costs.size()); }
  std::int32_t n_facts() const { return fact_offset.back(); }
  std::int32_t fact_number(Fact fact) const {
    return fact_offset[static_cast<std::size_t>(fact.variable)] + fact.value;
  }
};

}  // namespace plumbline
