// h_add: the sum over the goals when every operator pays for each of its preconditions, as if none helped
// another.
#pragma once

#include <cstdint>
#include <span>

#include "core/task.hpp"
#include "heuristics/relaxation.hpp"
#include "heuristics/relaxed_exploration.hpp"

namespace plumbline {

class HAdd {
 public:
  explicit HAdd(const Task& task, Costs costs = Costs::kPlain)
      : task_(task), costs_(costs), exploration_(relaxed(task.goal)) {}

  void set_goal(std::span<const Fact> goal) {
    exploration_ = RelaxedExploration<Combine::kSum>(relaxed(goal));
  }
  Cost operator()(const std::int32_t* values) { return exploration_.explore(values); }

 private:
  RelaxedTask relaxed(std::span<const Fact> goal) const {
    return relax(task_, goal, costs_, Dominated::kRemove);
  }

  const Task& task_;
  Costs costs_;
  RelaxedExploration<Combine::kSum> exploration_;
};

}  // namespace plumbline
