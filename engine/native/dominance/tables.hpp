// A dominance function that is ready to be asked: which factor states a state has, and D of two states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "dominance/system.hpp"

namespace plumbline {

class DominanceTables {
 public:
  // Sums are 64 bits wide; the least number stands for "no value".
  static constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();

  struct Variable {
    std::int32_t number;
    std::int32_t domain_size;
  };

  // `table` is the square of D_i, `lookup` has a state, or -1 for a pruned one, for every combination of the
  // values of `variables` (the last one counts fastest). Both belong to the caller and must outlive this
  // object. False if a state in the lookup does not exist or the lookup has another size.
  bool add_factor(std::int32_t n_states, const Value* table, std::vector<Variable> variables,
                  std::int64_t lookup_size, const std::int32_t* lookup) {
    std::int64_t combinations = 1;
    for (const Variable variable : variables) {
      if (variable.number < 0 || variable.domain_size < 1 || combinations > lookup_size) return false;
      combinations *= variable.domain_size;
    }
    if (combinations != lookup_size) return false;
    for (std::int64_t k = 0; k < lookup_size; ++k) {
      if (lookup[k] < -1 || lookup[k] >= n_states) return false;
    }
    factors_.push_back({n_states, table, lookup, std::move(variables)});
    return true;
  }

  std::size_t n_factors() const { return factors_.size(); }

  std::int32_t n_states(std::size_t factor) const { return factors_[factor].n_states; }
  Value factor_value(std::size_t factor, std::int32_t source, std::int32_t target) const {
    const Factor& own = factors_[factor];
    return own.table[static_cast<std::int64_t>(source) * own.n_states + target];
  }

  // The factor states of a state given by the values of all variables; false if a value is outside its
  // domain.
  bool find(std::int32_t n_variables, const std::int32_t* values, std::int32_t* ids) const {
    for (const Factor& factor : factors_) {
      std::int64_t place = 0;
      for (const Variable variable : factor.variables) {
        if (variable.number >= n_variables) return false;
        const std::int32_t value = values[variable.number];
        if (value < 0 || value >= variable.domain_size) return false;
        place = place * variable.domain_size + value;
      }
      *ids++ = factor.lookup[place];
    }
    return true;
  }

  // Whether these are factor states, pruned ones included.
  bool has(const std::int32_t* ids) const {
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      if (ids[i] < -1 || ids[i] >= factors_[i].n_states) return false;
    }
    return true;
  }

  // D(s, t) of two states given by their factor states.
  std::int64_t value(const std::int32_t* source, const std::int32_t* target) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      if (source[i] < 0 || target[i] < 0) return kNothing;
      const std::int64_t row = static_cast<std::int64_t>(source[i]) * factors_[i].n_states;
      const Value summand = factors_[i].table[row + target[i]];
      if (summand == kNoValue) return kNothing;
      sum += summand;
    }
    return sum;
  }

 private:
  struct Factor {
    std::int32_t n_states;
    const Value* table;
    const std::int32_t* lookup;
    std::vector<Variable> variables;
  };

  std::vector<Factor> factors_;
};

}  // namespace plumbline
