// What the additive Cartesian abstractions are made for (Seipp and Helmert 2018, section 7): one subtask per
// fact landmark of the delete relaxation and one per goal, those that are hardest for h_add first.
//
// In a landmark's subtask the values of a variable that must come before it are one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/task.hpp"
#include "heuristics/relaxation.hpp"
#include "heuristics/relaxed_exploration.hpp"
#include "heuristics/relaxed_reachability.hpp"
#include "search/search.hpp"

namespace plumbline {

struct CartesianSubtask {
  Fact goal;
  bool is_landmark;  // once achieved it counts for good
  // By variable and value the value in the subtask.
  std::vector<std::vector<std::int32_t>> value_of;
};

class CartesianSubtasks {
 public:
  CartesianSubtasks(const Task& task, std::span<const std::int32_t> start, std::span<const Fact> goal)
      : task_(task),
        start_(start),
        goal_(goal),
        exploration_(relax(task, goal, Costs::kPlain, Dominated::kKeep)) {
    is_solvable_ = exploration_.explore(start.data()) != kInfinity;
  }

  // Whether there is a relaxed plan; without one there are no subtasks either.
  bool is_solvable() const { return is_solvable_; }

  std::vector<CartesianSubtask> landmarks(Monitor& monitor) const {
    RelaxedReachability reachability(task_);
    std::vector<std::int32_t> facts;
    std::vector<std::vector<bool>> reached_without;
    for (const std::int32_t fact : reachability.facts_of_plan(start_, goal_)) {
      monitor.check();
      std::vector<bool> reached = reachability.reached(start_, fact);
      if (std::ranges::all_of(goal_, [&](Fact g) { return reached[number(g)]; })) continue;
      facts.push_back(fact);
      reached_without.push_back(std::move(reached));
    }
    std::vector<CartesianSubtask> result;
    for (const std::int32_t landmark : facts) {
      std::vector<std::int32_t> before;
      for (std::size_t i = 0; i < facts.size(); ++i) {
        if (facts[i] != landmark && !reached_without[i][static_cast<std::size_t>(landmark)])
          before.push_back(facts[i]);
      }
      add(result, {fact_of(landmark), true, combined(before)});
    }
    return hardest_first(std::move(result));
  }

  std::vector<CartesianSubtask> goals() const {
    std::vector<CartesianSubtask> result;
    for (const Fact fact : goal_) add(result, {fact, false, combined({})});
    return hardest_first(std::move(result));
  }

 private:
  std::size_t number(Fact fact) const { return static_cast<std::size_t>(task_.fact_number(fact)); }

  Fact fact_of(std::int32_t fact) const {
    const auto after = std::ranges::upper_bound(task_.fact_offset, fact);
    const auto variable = static_cast<std::int32_t>(after - task_.fact_offset.begin()) - 1;
    return {variable, fact - task_.fact_offset[static_cast<std::size_t>(variable)]};
  }

  void add(std::vector<CartesianSubtask>& list, CartesianSubtask subtask) const {
    if (start_[static_cast<std::size_t>(subtask.goal.variable)] != subtask.goal.value)
      list.push_back(std::move(subtask));
  }

  // Per variable the values, with those of the listed facts (ascending) as one.
  std::vector<std::vector<std::int32_t>> combined(std::span<const std::int32_t> facts) const {
    std::vector<std::vector<std::int32_t>> value_of;
    auto next = facts.begin();
    for (std::size_t v = 0; v < task_.domain_sizes.size(); ++v) {
      std::vector<std::int32_t> values(static_cast<std::size_t>(task_.domain_sizes[v]), -1);
      const auto first = next;
      while (next != facts.end() && *next < task_.fact_offset[v + 1]) ++next;
      for (auto fact = first; fact != next; ++fact)
        values[static_cast<std::size_t>(*fact - task_.fact_offset[v])] = 0;
      std::int32_t n_values = first == next ? 0 : 1;
      for (std::int32_t& value : values) {
        if (value < 0) value = n_values++;
      }
      value_of.push_back(std::move(values));
    }
    return value_of;
  }

  std::vector<CartesianSubtask> hardest_first(std::vector<CartesianSubtask> subtasks) const {
    const auto h_add = [this](const CartesianSubtask& subtask) {
      return exploration_.value(exploration_.task().fact_id[number(subtask.goal)]);
    };
    std::ranges::stable_sort(subtasks, std::ranges::greater{}, h_add);
    return subtasks;
  }

  const Task& task_;
  std::span<const std::int32_t> start_;
  std::span<const Fact> goal_;
  RelaxedExploration<Combine::kSum> exploration_;
  bool is_solvable_;
};

// The subtask as a task of its own; `costs` are what is left for it.
inline Task subtask_of(const Task& whole, const CartesianSubtask& subtask, const std::vector<Cost>& costs) {
  const auto value = [&](Fact fact) {
    return subtask.value_of[static_cast<std::size_t>(fact.variable)][static_cast<std::size_t>(fact.value)];
  };
  Task task = whole;
  for (Fact& fact : task.preconditions.facts) fact.value = value(fact);
  for (Fact& fact : task.effects.facts) fact.value = value(fact);
  task.fact_offset.assign(1, 0);
  for (std::size_t v = 0; v < task.domain_sizes.size(); ++v) {
    task.domain_sizes[v] = std::ranges::max(subtask.value_of[v]) + 1;
    task.fact_offset.push_back(task.fact_offset.back() + task.domain_sizes[v]);
  }
  task.costs = costs;
  task.goal = {{subtask.goal.variable, value(subtask.goal)}};
  return task;
}

}  // namespace plumbline
