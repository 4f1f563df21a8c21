// Whether the goal can be reached when nothing is ever lost, that is, whether h_max is finite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/task.hpp"
#include "heuristics/relaxation.hpp"

namespace plumbline {

class RelaxedGoal {
 public:
  explicit RelaxedGoal(const Task& task)
      : task_(relax(task, task.goal, Costs::kUnit, Dominated::kRemove)),
        is_reached_(static_cast<std::size_t>(task_.n_facts())),
        unsatisfied_(static_cast<std::size_t>(task_.n_operators())) {}

  // `before` is a state from which it can be reached, or null. It can be reached from any other state from
  // which all facts of that one can, and most operators can be undone in one step.
  bool is_reachable(const std::int32_t* values, const std::int32_t* before = nullptr) {
    std::ranges::fill(is_reached_, char{0});
    queue_.clear();
    task_.for_each_fact_of(values, [this](std::int32_t fact) { reach(fact); });
    if (before != nullptr && regains(before)) return true;
    explore();
    return is_reached(task_.goal_fact);
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  bool is_reached(std::int32_t fact) const { return is_reached_[index(fact)] != 0; }

  void reach(std::int32_t fact) {
    if (is_reached(fact)) return;
    is_reached_[index(fact)] = 1;
    queue_.push_back(fact);
  }

  void fire(std::int32_t op) {
    for (const std::int32_t fact : task_.effects[op]) reach(fact);
  }

  // Whether single operators give all facts of a state.
  bool regains(const std::int32_t* before) {
    bool has_all = true;
    task_.for_each_fact_of(before, [&](std::int32_t fact) {
      for (const std::int32_t op : task_.achievers[fact]) {
        if (is_reached(fact) || !has_all) return;
        if (std::ranges::all_of(task_.preconditions[op], [this](std::int32_t f) { return is_reached(f); }))
          fire(op);
      }
      has_all = has_all && is_reached(fact);
    });
    return has_all;
  }

  void explore() {
    for (std::int32_t op = 0; op < task_.n_operators(); ++op)
      unsatisfied_[index(op)] = static_cast<std::int32_t>(task_.preconditions[op].size());
    for (std::size_t i = 0; i < queue_.size() && !is_reached(task_.goal_fact); ++i) {
      for (const std::int32_t op : task_.users[queue_[i]]) {
        if (--unsatisfied_[index(op)] == 0) fire(op);
      }
    }
  }

  RelaxedTask task_;
  std::vector<char> is_reached_;           // by fact
  std::vector<std::int32_t> unsatisfied_;  // by operator: preconditions
  std::vector<std::int32_t> queue_;        // facts in the order in which they were reached
};

}  // namespace plumbline
