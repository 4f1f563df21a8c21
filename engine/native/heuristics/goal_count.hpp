// The number of goal facts a state does not have. Not admissible; a fast guide and a weak test policy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

class GoalCount {
 public:
  explicit GoalCount(const Task& task) : goal_(task.goal) {}

  void set_goal(std::span<const Fact> goal) { goal_.assign(goal.begin(), goal.end()); }

  Cost operator()(const std::int32_t* values) const {
    return std::ranges::count_if(goal_,
                                 [values](const Fact& fact) { return values[fact.variable] != fact.value; });
  }

 private:
  std::vector<Fact> goal_;
};

}  // namespace plumbline
