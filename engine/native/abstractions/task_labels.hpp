// The labels of a factored task: operators, or the cases of an operator with conditional effects, in which
// each variable's new value depends on nothing but its old one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "abstractions/transition_system.hpp"
#include "core/cases.hpp"
#include "core/task.hpp"

namespace plumbline {

class TaskLabels {
 public:
  static constexpr std::int64_t kMaxCases = 64;         // of one operator
  static constexpr std::int64_t kMaxAllCases = 50'000;  // of all operators

  explicit TaskLabels(const Task& task) : task_(task) {
    std::int64_t n_cases = 0;
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      cases_.emplace_back(task, op);
      n_cases += std::min(cases_.back().count(kMaxCases), kMaxCases + 1);
    }
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      const std::int64_t own = cases_[index(op)].count(kMaxCases);
      if (own > kMaxCases || (own > 1 && n_cases > kMaxAllCases)) {
        labels_.push_back({op, false, {}});
        continue;
      }
      for (std::int64_t number = 0; number < own; ++number)
        labels_.push_back({op, true, cases_[index(op)].choice(number)});
    }
  }

  std::vector<Cost> costs() const {
    std::vector<Cost> result;
    for (const Label& label : labels_) result.push_back(task_.costs[index(label.op)]);
    return result;
  }

  // The variables a label asks for or changes.
  std::set<std::int32_t> touched(std::int32_t number) const {
    const Label& label = labels_[index(number)];
    std::set<std::int32_t> result;
    for (const Fact fact : task_.preconditions[label.op]) result.insert(fact.variable);
    for (const Fact fact : task_.effects[label.op]) result.insert(fact.variable);
    for (std::int32_t i = task_.conditional.first(label.op); i < task_.conditional.last(label.op); ++i)
      result.insert(task_.conditional.fact(i).variable);
    if (label.is_case) {
      for (const OperatorCases::Variable& variable : cases_[index(label.op)].variables())
        result.insert(variable.variable);
    }
    return result;
  }

  // Its steps in a variable, ascending, each once.
  std::vector<Transition> arcs(std::int32_t number, std::int32_t variable) const {
    const Label& label = labels_[index(number)];
    const OperatorCases& cases = cases_[index(label.op)];
    std::vector<Transition> result;
    for (std::int32_t x = 0; x < task_.domain_sizes[index(variable)]; ++x) {
      const Fact before{variable, x};
      if (!is_possible(label.op, before) || (label.is_case && !cases.allows(label.choice, before))) continue;
      if (label.is_case) {
        result.push_back({x, cases.image(task_, label.op, label.choice, before)});
      } else {
        for (const std::int32_t after : possible_values(label.op, before)) result.push_back({x, after});
      }
    }
    return result;
  }

 private:
  struct Label {
    std::int32_t op;
    bool is_case;
    OperatorCases::Choice choice;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  bool is_possible(std::int32_t op, Fact before) const {
    return std::ranges::all_of(task_.preconditions[op], [before](Fact fact) {
      return fact.variable != before.variable || fact.value == before.value;
    });
  }

  // Effects with a condition on another variable may take place or not.
  std::set<std::int32_t> possible_values(std::int32_t op, Fact before) const {
    std::set<std::int32_t> after{before.value};
    for (const Fact effect : task_.effects[op]) {
      if (effect.variable == before.variable) after = {effect.value};
    }
    for (std::int32_t i = task_.conditional.first(op); i < task_.conditional.last(op); ++i) {
      const Fact effect = task_.conditional.fact(i);
      if (effect.variable != before.variable || !OperatorCases::own_condition_holds(task_, i, before))
        continue;
      const bool is_certain = std::ranges::all_of(
          task_.conditional.conditions[i], [before](Fact fact) { return fact.variable == before.variable; });
      if (is_certain) after.clear();
      after.insert(effect.value);
    }
    return after;
  }

  const Task& task_;
  std::vector<OperatorCases> cases_;  // by operator
  std::vector<Label> labels_;
};

}  // namespace plumbline
