// A heuristic given as one value per state of a small task: states are ranked like the digits of a number,
// the last state variable counting fastest. Any values at all, so that searches can be tested with
// inconsistent ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/task.hpp"

namespace plumbline {

class TableHeuristic {
 public:
  TableHeuristic(const Task& task, std::span<const Cost> values) : task_(task), values_(values) {}

  void set_goal(std::span<const Fact>) {}  // the values are for whatever goal the caller has in mind

  Cost operator()(const std::int32_t* state) const {
    std::size_t rank = 0;
    for (std::size_t v = 0; v < task_.domain_sizes.size(); ++v) {
      if (task_.axioms.is_derived(static_cast<std::int32_t>(v))) continue;
      rank = rank * static_cast<std::size_t>(task_.domain_sizes[v]) + static_cast<std::size_t>(state[v]);
    }
    return values_[rank];
  }

 private:
  const Task& task_;
  std::span<const Cost> values_;
};

}  // namespace plumbline
