// The part of a task that its goal depends on: the goal's variables, those in preconditions of operators that
// change them, in the conditions of these effects and in the bodies of axioms, and so on. Plans are the same
// up to operators that matter to nothing in it, so a search for the task's goal may work here; tasks keep
// variables that only policies and users look at. Operators without effect are dropped, and of operators
// that do the same only the cheapest is kept.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

struct RelevantTask {
  Task task;
  std::vector<std::int32_t> variables;  // their numbers in the whole task
  std::vector<std::int32_t> operators;  // likewise
};

inline std::vector<bool> relevant_variables(const Task& task) {
  std::vector<std::vector<std::int32_t>> changed_by(static_cast<std::size_t>(task.n_variables()));
  for (std::int32_t op = 0; op < task.n_operators(); ++op) {
    for (const Fact effect : task.effects[op])
      changed_by[static_cast<std::size_t>(effect.variable)].push_back(op);
    for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i)
      changed_by[static_cast<std::size_t>(task.conditional.fact(i).variable)].push_back(op);
  }
  std::vector<std::vector<std::int32_t>> rules_of(changed_by.size());
  for (std::int32_t rule = 0; rule < task.axioms.n_rules(); ++rule)
    rules_of[static_cast<std::size_t>(task.axioms.head(rule))].push_back(rule);
  std::vector<bool> is_relevant(changed_by.size());
  std::vector<std::int32_t> queue;
  const auto add = [&](std::span<const Fact> facts) {
    for (const Fact fact : facts) {
      if (is_relevant[static_cast<std::size_t>(fact.variable)]) continue;
      is_relevant[static_cast<std::size_t>(fact.variable)] = true;
      queue.push_back(fact.variable);
    }
  };
  add(task.goal);
  while (!queue.empty()) {
    const auto variable = static_cast<std::size_t>(queue.back());
    queue.pop_back();
    for (const std::int32_t op : changed_by[variable]) {
      add(task.preconditions[op]);
      for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i) {
        if (static_cast<std::size_t>(task.conditional.fact(i).variable) == variable)
          add(task.conditional.conditions[i]);
      }
    }
    for (const std::int32_t rule : rules_of[variable]) add(task.axioms.bodies[rule]);
  }
  return is_relevant;
}

namespace relevance {

using Row = std::vector<std::pair<std::int32_t, std::int32_t>>;  // facts that can be compared

struct Projected {
  Row preconditions;
  Row effects;
  std::vector<std::pair<Row, Row>> conditional;  // conditions and the one fact each
  auto operator<=>(const Projected&) const = default;
};

// `number` maps variables to their new numbers, or to -1.
inline Row project(std::span<const Fact> facts, const std::vector<std::int32_t>& number) {
  Row row;
  for (const Fact fact : facts) {
    const std::int32_t variable = number[static_cast<std::size_t>(fact.variable)];
    if (variable >= 0) row.emplace_back(variable, fact.value);
  }
  return row;
}

// Of every different operator that changes something the cheapest, the first of equals.
inline std::map<Projected, std::int32_t> cheapest_operators(const Task& whole,
                                                            const std::vector<std::int32_t>& number) {
  std::map<Projected, std::int32_t> cheapest;
  for (std::int32_t op = 0; op < whole.n_operators(); ++op) {
    Projected projected{project(whole.preconditions[op], number), project(whole.effects[op], number), {}};
    std::erase_if(projected.effects, [&](const auto& effect) {
      return std::binary_search(projected.preconditions.begin(), projected.preconditions.end(), effect);
    });
    for (std::int32_t i = whole.conditional.first(op); i < whole.conditional.last(op); ++i) {
      const Fact fact = whole.conditional.fact(i);
      Row effect = project({&fact, 1}, number);
      if (effect.empty()) continue;
      projected.conditional.emplace_back(project(whole.conditional.conditions[i], number), std::move(effect));
    }
    if (projected.effects.empty() && projected.conditional.empty()) continue;
    const auto [twin, is_new] = cheapest.try_emplace(std::move(projected), op);
    const auto cost = [&whole](std::int32_t o) { return whole.costs[static_cast<std::size_t>(o)]; };
    if (!is_new && cost(op) < cost(twin->second)) twin->second = op;
  }
  return cheapest;
}

inline void append(FactRows& rows, const Row& row) {
  for (const auto& [variable, value] : row) rows.facts.push_back({variable, value});
  rows.begin.push_back(static_cast<std::int32_t>(rows.facts.size()));
}

inline void append(ConditionalEffects& list, const Projected& op) {
  for (const auto& [condition, effect] : op.conditional) {
    append(list.conditions, condition);
    list.facts.push_back({effect.front().first, effect.front().second});
  }
  list.begin.push_back(static_cast<std::int32_t>(list.facts.size()));
}

inline Axioms project(const Axioms& whole, const std::vector<std::int32_t>& number) {
  Axioms axioms;
  for (std::size_t v = 0; v < whole.layer.size(); ++v) {
    if (number[v] < 0) continue;
    axioms.layer.push_back(whole.layer[v]);
    axioms.default_value.push_back(whole.default_value[v]);
  }
  if (std::ranges::all_of(axioms.layer, [](std::int32_t layer) { return layer < 0; })) return {};
  axioms.bodies.begin.push_back(0);
  for (std::int32_t rule = 0; rule < whole.n_rules(); ++rule) {
    const std::int32_t head = number[static_cast<std::size_t>(whole.head(rule))];
    if (head < 0) continue;
    axioms.heads.push_back(head);
    append(axioms.bodies, project(whole.bodies[rule], number));
  }
  return axioms;
}

}  // namespace relevance

// Operators keep their order.
inline RelevantTask relevant_task(const Task& whole) {
  RelevantTask result;
  Task& task = result.task;
  std::vector<std::int32_t> number(static_cast<std::size_t>(whole.n_variables()), -1);
  const std::vector<bool> is_relevant = relevant_variables(whole);
  task.fact_offset.push_back(0);
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (!is_relevant[v]) continue;
    number[v] = task.n_variables();
    task.domain_sizes.push_back(whole.domain_sizes[v]);
    task.fact_offset.push_back(task.fact_offset.back() + whole.domain_sizes[v]);
    result.variables.push_back(static_cast<std::int32_t>(v));
  }
  const auto cheapest = relevance::cheapest_operators(whole, number);
  std::vector<std::pair<std::int32_t, const relevance::Projected*>> kept;
  for (const auto& [projected, op] : cheapest) kept.emplace_back(op, &projected);
  std::sort(kept.begin(), kept.end());
  task.preconditions.begin.push_back(0);
  task.effects.begin.push_back(0);
  task.conditional.begin.push_back(0);
  task.conditional.conditions.begin.push_back(0);
  for (const auto& [op, projected] : kept) {
    relevance::append(task.conditional, *projected);
    relevance::append(task.preconditions, projected->preconditions);
    relevance::append(task.effects, projected->effects);
    task.costs.push_back(whole.costs[static_cast<std::size_t>(op)]);
    result.operators.push_back(op);
  }
  task.axioms = relevance::project(whole.axioms, number);
  for (const auto& [variable, value] : relevance::project(whole.goal, number))
    task.goal.push_back({variable, value});
  return result;
}

}  // namespace plumbline
