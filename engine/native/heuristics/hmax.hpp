// h_max: the cost of the most expensive goal when every operator pays only for its most expensive
// precondition. Admissible in every state, and infinite exactly where the goal cannot even be reached without
// deletes.
#pragma once

#include <cstdint>
#include <span>

#include "core/task.hpp"
#include "heuristics/relaxation.hpp"
#include "heuristics/relaxed_exploration.hpp"

namespace plumbline {

class HMax {
 public:
  explicit HMax(const Task& task) : task_(task), exploration_(relaxed(task.goal)) {}

  void set_goal(std::span<const Fact> goal) {
    exploration_ = RelaxedExploration<Combine::kMax>(relaxed(goal));
  }
  Cost operator()(const std::int32_t* values) { return exploration_.explore(values); }

 private:
  RelaxedTask relaxed(std::span<const Fact> goal) const {
    return relax(task_, goal, Costs::kPlain, Dominated::kRemove);
  }

  const Task& task_;
  RelaxedExploration<Combine::kMax> exploration_;
};

}  // namespace plumbline
