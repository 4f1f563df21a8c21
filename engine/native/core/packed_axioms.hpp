// The values of derived variables, computed on packed states: rules count what their bodies lack, and fire
// layer by layer. A rule may ask for the default of a variable only of a lower layer, so that one pass is
// enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/state_packing.hpp"
#include "core/task.hpp"

namespace plumbline {

class PackedAxioms {
 public:
  PackedAxioms(const Task& task, const StatePacking& packing)
      : heads_(task.axioms.heads), is_watched_(static_cast<std::size_t>(task.n_variables())) {
    find_users(task);
    find_derived(task, packing);
    find_watched(task, packing);
  }

  // Whether some rule asks for a state variable: through rules everything derived depends on such ones alone.
  bool depends_on(std::int32_t variable) const { return is_watched_[index(variable)] != 0; }

  // Writes the derived variables; what they were does not matter.
  void extend(Word* words) const {
    thread_local std::vector<std::int32_t> missing;  // by rule
    thread_local std::vector<char> is_default;       // by variable
    thread_local std::vector<std::int32_t> queue;    // facts
    missing.assign(body_sizes_.begin(), body_sizes_.end());
    is_default.assign(is_watched_.size(), 1);
    queue.clear();
    const auto fire = [&](std::int32_t rule) {
      const std::int32_t head = heads_[index(rule)];
      if (!is_default[index(head)]) return;
      is_default[index(head)] = 0;
      queue.push_back(other_fact_[index(head)]);
    };
    for (const Watched& variable : watched_) {
      queue.push_back(variable.offset +
                      static_cast<std::int32_t>((words[variable.word] >> variable.shift) & variable.mask));
    }
    for (const std::int32_t rule : always_) fire(rule);
    for (const std::vector<Derived>& layer : layers_) {
      while (!queue.empty()) {
        const std::int32_t fact = queue.back();
        queue.pop_back();
        for (std::int32_t i = users_begin_[index(fact)]; i < users_begin_[index(fact) + 1]; ++i) {
          const std::int32_t rule = users_[index(i)];
          if (--missing[index(rule)] == 0) fire(rule);
        }
      }
      // Only now is it certain which variables of this layer keep their default.
      for (const Derived& derived : layer) {
        if (is_default[index(derived.variable)]) queue.push_back(derived.default_fact);
      }
    }
    for (const std::vector<Derived>& layer : layers_) {
      for (const Derived& derived : layer) {
        const Word value = is_default[index(derived.variable)] ? derived.default_bit : derived.other_bit;
        words[derived.word] = (words[derived.word] & derived.keep) | value;
      }
    }
  }

 private:
  struct Watched {
    std::size_t word;
    std::int32_t shift;
    Word mask;
    std::int32_t offset;  // fact number of value 0
  };
  struct Derived {
    std::int32_t variable;
    std::int32_t default_fact;
    std::size_t word;
    Word keep;
    Word default_bit;
    Word other_bit;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  void find_users(const Task& task) {
    const Axioms& axioms = task.axioms;
    users_begin_.assign(index(task.n_facts()) + 1, 0);
    for (std::int32_t rule = 0; rule < axioms.n_rules(); ++rule) {
      body_sizes_.push_back(static_cast<std::int32_t>(axioms.bodies[rule].size()));
      if (axioms.bodies[rule].empty()) always_.push_back(rule);
      for (const Fact fact : axioms.bodies[rule]) ++users_begin_[index(task.fact_number(fact)) + 1];
    }
    std::partial_sum(users_begin_.begin(), users_begin_.end(), users_begin_.begin());
    users_.resize(index(users_begin_.back()));
    std::vector<std::int32_t> next(users_begin_.begin(), users_begin_.end() - 1);
    for (std::int32_t rule = 0; rule < axioms.n_rules(); ++rule) {
      for (const Fact fact : axioms.bodies[rule]) users_[index(next[index(task.fact_number(fact))]++)] = rule;
    }
  }

  void find_derived(const Task& task, const StatePacking& packing) {
    const Axioms& axioms = task.axioms;
    std::vector<std::int32_t> numbers = axioms.layer;
    std::ranges::sort(numbers);
    numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
    std::erase(numbers, -1);
    layers_.resize(numbers.size());
    other_fact_.assign(index(task.n_variables()), -1);
    for (std::int32_t v = 0; v < task.n_variables(); ++v) {
      if (!axioms.is_derived(v)) continue;
      const std::int32_t value = axioms.default_of(v);
      const auto layer = std::ranges::lower_bound(numbers, axioms.layer[index(v)]) - numbers.begin();
      layers_[static_cast<std::size_t>(layer)].push_back(
          {v, task.fact_number({v, value}), static_cast<std::size_t>(packing.slot(v).word),
           ~packing.field_mask(v), packing.field({v, value}), packing.field({v, 1 - value})});
      other_fact_[index(v)] = task.fact_number({v, 1 - value});
    }
  }

  // State variables that occur in a body.
  void find_watched(const Task& task, const StatePacking& packing) {
    for (const Fact fact : task.axioms.bodies.facts) {
      if (!task.axioms.is_derived(fact.variable)) is_watched_[index(fact.variable)] = 1;
    }
    for (std::int32_t v = 0; v < task.n_variables(); ++v) {
      if (!is_watched_[index(v)]) continue;
      const Slot& slot = packing.slot(v);
      watched_.push_back(
          {static_cast<std::size_t>(slot.word), slot.shift, slot.mask, task.fact_offset[index(v)]});
    }
  }

  std::vector<std::int32_t> heads_;
  std::vector<std::int32_t> body_sizes_;
  std::vector<std::int32_t> always_;  // rules without a body
  std::vector<std::int32_t> users_begin_;
  std::vector<std::int32_t> users_;  // by fact number: the rules that ask for it
  std::vector<std::vector<Derived>> layers_;
  std::vector<std::int32_t> other_fact_;  // by derived variable: that of the value which is not the default
  std::vector<Watched> watched_;
  std::vector<char> is_watched_;  // by variable: a state variable that a body names
};

}  // namespace plumbline
