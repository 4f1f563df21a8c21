// The cases of an operator with conditional effects: in each it is known which effects on a variable depend
// on nothing but that variable's own value. See docs/theory/conditional-effects.md, "Cases".
//
// A case chooses, for every variable in a condition of an effect on another one, a class of its values: each
// value that such a condition names is one by itself, the others are one together. In every state exactly one
// case of an applicable operator fits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

class OperatorCases {
 public:
  using Choice = std::vector<std::int32_t>;  // a class by case variable

  struct Variable {
    std::int32_t variable;
    std::vector<std::int32_t> class_of;  // by value
    std::int32_t n_classes;
  };

  OperatorCases(const Task& task, std::int32_t op) {
    std::map<std::int32_t, std::set<std::int32_t>> named;
    for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i) {
      for (const Fact fact : task.conditional.conditions[i]) {
        if (fact.variable != task.conditional.fact(i).variable) named[fact.variable].insert(fact.value);
      }
    }
    for (const auto& [variable, values] : named) {
      const std::int32_t n_values = task.domain_sizes[index(variable)];
      const auto rest = static_cast<std::int32_t>(values.size());
      Variable found{variable, std::vector<std::int32_t>(index(n_values), rest), rest + (rest < n_values)};
      std::int32_t next = 0;
      for (const std::int32_t value : values) found.class_of[index(value)] = next++;
      variables_.push_back(std::move(found));
    }
  }

  const std::vector<Variable>& variables() const { return variables_; }

  // How many cases there are, or some number above `most`.
  std::int64_t count(std::int64_t most) const {
    std::int64_t product = 1;
    for (const Variable& variable : variables_) {
      if (product > most) return product;
      product *= variable.n_classes;
    }
    return product;
  }

  // The last variable's class changes fastest.
  Choice choice(std::int64_t number) const {
    Choice result(variables_.size());
    for (std::size_t i = variables_.size(); i-- > 0;) {
      result[i] = static_cast<std::int32_t>(number % variables_[i].n_classes);
      number /= variables_[i].n_classes;
    }
    return result;
  }

  std::int64_t of(const std::int32_t* values) const {
    std::int64_t number = 0;
    for (const Variable& variable : variables_)
      number = number * variable.n_classes + variable.class_of[index(values[variable.variable])];
    return number;
  }

  // Whether a case leaves a value to a variable.
  bool allows(const Choice& choice, Fact fact) const {
    const std::size_t i = find(fact.variable);
    return i == variables_.size() || variables_[i].class_of[index(fact.value)] == choice[i];
  }

  // The values a case leaves to a variable it is about.
  std::vector<std::int32_t> values(const Choice& choice, std::size_t i) const {
    std::vector<std::int32_t> result;
    for (std::size_t value = 0; value < variables_[i].class_of.size(); ++value) {
      if (variables_[i].class_of[value] == choice[i]) result.push_back(static_cast<std::int32_t>(value));
    }
    return result;
  }

  // Whether the conditions of an effect on other variables hold in a case. They name values that are classes
  // by themselves.
  bool foreign_conditions_hold(const Task& task, std::int32_t effect, const Choice& choice) const {
    return std::ranges::all_of(task.conditional.conditions[effect], [&](Fact fact) {
      return fact.variable == task.conditional.fact(effect).variable || allows(choice, fact);
    });
  }

  // The value a variable has after the operator if it had `value` before.
  std::int32_t image(const Task& task, std::int32_t op, const Choice& choice, Fact before) const {
    std::int32_t after = before.value;
    for (const Fact effect : task.effects[op]) {
      if (effect.variable == before.variable) after = effect.value;
    }
    for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i) {
      if (task.conditional.fact(i).variable != before.variable) continue;
      if (own_condition_holds(task, i, before) && foreign_conditions_hold(task, i, choice))
        after = task.conditional.fact(i).value;
    }
    return after;
  }

  static bool own_condition_holds(const Task& task, std::int32_t effect, Fact before) {
    return std::ranges::all_of(task.conditional.conditions[effect], [&](Fact fact) {
      return fact.variable != before.variable || fact.value == before.value;
    });
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::size_t find(std::int32_t variable) const {
    const auto found = std::ranges::lower_bound(variables_, variable, {}, &Variable::variable);
    return found != variables_.end() && found->variable == variable
               ? static_cast<std::size_t>(found - variables_.begin())
               : variables_.size();
  }

  std::vector<Variable> variables_;  // ascending
};

}  // namespace plumbline
