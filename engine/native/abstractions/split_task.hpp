// The same task without conditional effects: every case of an operator, with the values that it allows
// multiplied out, is an operator of its own. h* of every state stays what it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/cases.hpp"
#include "core/task.hpp"

namespace plumbline {

class TaskSplit {
 public:
  explicit TaskSplit(const Task& whole) : whole_(whole) {
    task_.domain_sizes = whole.domain_sizes;
    task_.fact_offset = whole.fact_offset;
    task_.goal = whole.goal;
    task_.preconditions.begin.push_back(0);
    task_.effects.begin.push_back(0);
    for (std::int32_t op = 0; op < whole.n_operators(); ++op) {
      const OperatorCases cases(whole, op);
      const std::int64_t n_cases = cases.count(kMaxCases);
      if (n_cases > kMaxCases) throw std::length_error("a task with too many cases to be split");
      for (std::int64_t number = 0; number < n_cases; ++number) add_case(op, cases, cases.choice(number));
    }
  }

  Task take() { return std::move(task_); }

 private:
  static constexpr std::int64_t kMaxCases = 10'000'000;  // callers decline long before that

  using Facts = std::map<std::int32_t, std::int32_t>;

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  void add_case(std::int32_t op, const OperatorCases& cases, const OperatorCases::Choice& choice) {
    Facts before;
    for (const Fact fact : whole_.preconditions[op]) before[fact.variable] = fact.value;
    Facts after;
    std::set<std::int32_t> open;  // variables whose values are multiplied out
    std::set<std::int32_t> changed;
    for (const Fact fact : whole_.effects[op]) changed.insert(fact.variable);
    for (std::int32_t i = whole_.conditional.first(op); i < whole_.conditional.last(op); ++i)
      changed.insert(whole_.conditional.fact(i).variable);
    for (const OperatorCases::Variable& variable : cases.variables()) open.insert(variable.variable);
    for (const std::int32_t variable : changed) {
      if (before.contains(variable) || open.contains(variable)) continue;
      std::set<std::int32_t> images;
      for (std::int32_t x = 0; x < whole_.domain_sizes[index(variable)]; ++x)
        images.insert(cases.image(whole_, op, choice, {variable, x}));
      if (images.size() == 1) {
        after[variable] = *images.begin();
      } else {
        open.insert(variable);
      }
    }
    for (const auto& [variable, value] : before) open.erase(variable);
    multiply(op, cases, choice, {open.begin(), open.end()}, 0, before, after, changed);
  }

  void multiply(std::int32_t op, const OperatorCases& cases, const OperatorCases::Choice& choice,
                const std::vector<std::int32_t>& open, std::size_t next, Facts& before, const Facts& after,
                const std::set<std::int32_t>& changed) {
    if (next == open.size()) {
      add(op, cases, choice, before, after, changed);
      return;
    }
    for (std::int32_t x = 0; x < whole_.domain_sizes[index(open[next])]; ++x) {
      if (!cases.allows(choice, {open[next], x})) continue;
      before[open[next]] = x;
      multiply(op, cases, choice, open, next + 1, before, after, changed);
    }
    before.erase(open[next]);
  }

  void add(std::int32_t op, const OperatorCases& cases, const OperatorCases::Choice& choice,
           const Facts& before, Facts after, const std::set<std::int32_t>& changed) {
    for (const auto& [variable, value] : before) {
      if (!cases.allows(choice, {variable, value})) return;  // no state is in this case
      if (changed.contains(variable)) after[variable] = cases.image(whole_, op, choice, {variable, value});
    }
    append(task_.preconditions, before);
    append(task_.effects, after);
    task_.costs.push_back(whole_.costs[index(op)]);
  }

  static void append(FactRows& rows, const Facts& facts) {
    for (const auto& [variable, value] : facts) rows.facts.push_back({variable, value});
    rows.begin.push_back(static_cast<std::int32_t>(rows.facts.size()));
  }

  const Task& whole_;
  Task task_;
};

}  // namespace plumbline
