// h_FF: the cost of one relaxed plan, the one that follows the h_add-cheapest achievers back from the goal.
// Ties: the achiever found first stays; facts of equal value are looked at in the order they got it,
// operators in the order of the task. Each operator counts once, however many of its effects are used: also
// if a relaxed plan would need it twice, for effects with different conditions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/task.hpp"
#include "heuristics/relaxation.hpp"
#include "heuristics/relaxed_exploration.hpp"

namespace plumbline {

class HFF {
 public:
  explicit HFF(const Task& task) : task_(task), exploration_(relaxed(task.goal)) { make_marks(); }

  void set_goal(std::span<const Fact> goal) {
    exploration_ = RelaxedExploration<Combine::kSum>(relaxed(goal));
    make_marks();
  }

  Cost operator()(const std::int32_t* values) {
    if (exploration_.explore(values) == kInfinity) return kInfinity;
    ++evaluation_;
    const RelaxedTask& relaxed = exploration_.task();
    Cost plan_cost = 0;
    open_.assign(1, relaxed.goal_fact);
    while (!open_.empty()) {
      const std::int32_t achiever = exploration_.achiever(open_.back());
      open_.pop_back();
      if (achiever == RelaxedExploration<Combine::kSum>::kNoAchiever) continue;
      if (!is_new(marked_[static_cast<std::size_t>(achiever)])) continue;
      if (!relaxed.shares_costs ||
          is_new(paid_[static_cast<std::size_t>(relaxed.group[static_cast<std::size_t>(achiever)])]))
        plan_cost += relaxed.costs[static_cast<std::size_t>(achiever)];
      for (const std::int32_t fact : relaxed.preconditions[achiever]) open_.push_back(fact);
    }
    return plan_cost;
  }

 private:
  // Dominated operators stay: without them ties would be broken differently.
  RelaxedTask relaxed(std::span<const Fact> goal) const {
    return relax(task_, goal, Costs::kPlain, Dominated::kKeep);
  }

  void make_marks() {
    marked_.assign(static_cast<std::size_t>(exploration_.task().n_operators()), evaluation_);
    paid_ = marked_;
  }

  bool is_new(std::uint64_t& mark) const {
    if (mark == evaluation_) return false;
    mark = evaluation_;
    return true;
  }

  const Task& task_;
  RelaxedExploration<Combine::kSum> exploration_;
  std::vector<std::uint64_t> marked_;  // last evaluation whose relaxed plan has the relaxed operator
  std::vector<std::uint64_t> paid_;    // the same by group
  std::uint64_t evaluation_ = 0;
  std::vector<std::int32_t> open_;
};

}  // namespace plumbline
