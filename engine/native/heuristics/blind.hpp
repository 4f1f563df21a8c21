// The blind heuristic: 0 in goal states, elsewhere the cost of the cheapest operator. For A* see
// blind_search.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

class Blind {
 public:
  explicit Blind(const Task& task)
      : cheapest_(task.costs.empty() ? 0 : *std::min_element(task.costs.begin(), task.costs.end())),
        goal_(task.goal) {}

  void set_goal(std::span<const Fact> goal) { goal_.assign(goal.begin(), goal.end()); }

  Cost operator()(const std::int32_t* values) const {
    const bool is_goal = std::all_of(goal_.begin(), goal_.end(),
                                     [values](Fact fact) { return values[fact.variable] == fact.value; });
    return is_goal ? 0 : cheapest_;
  }

 private:
  Cost cheapest_;
  std::vector<Fact> goal_;
};

}  // namespace plumbline
