// The part of a task that its goal depends on: the goal's variables, those in preconditions of operators that
// change them, and so on. Plans are the same up to operators that matter to nothing in it, so a search for
// the task's goal may work here; tasks keep variables that only policies and people look at. Operators
// without effect are dropped, and of operators that do the same only the cheapest is kept.
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
  }
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
    for (const std::int32_t op : changed_by[variable]) add(task.preconditions[op]);
    changed_by[variable].clear();
  }
  return is_relevant;
}

namespace relevance {

using Row = std::vector<std::pair<std::int32_t, std::int32_t>>;  // facts that can be compared

struct Projected {
  Row preconditions;
  Row effects;
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
    Projected projected{project(whole.preconditions[op], number), project(whole.effects[op], number)};
    std::erase_if(projected.effects, [&](const auto& effect) {
      return std::binary_search(projected.preconditions.begin(), projected.preconditions.end(), effect);
    });
    if (projected.effects.empty()) continue;
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
  for (const auto& [op, projected] : kept) {
    relevance::append(task.preconditions, projected->preconditions);
    relevance::append(task.effects, projected->effects);
    task.costs.push_back(whole.costs[static_cast<std::size_t>(op)]);
    result.operators.push_back(op);
  }
  for (const auto& [variable, value] : relevance::project(whole.goal, number))
    task.goal.push_back({variable, value});
  return result;
}

}  // namespace plumbline
