// Additive Cartesian abstractions (Seipp and Helmert 2018, "Counterexample-Guided Cartesian Abstraction
// Refinement for Classical Planning"): one abstraction per landmark and goal, each with the costs that those
// before it did not need (saturated cost partitioning with general costs). See docs/theory/searches.md,
// "Cartesian abstractions".
//
// Built for one state: values are admissible and consistent in all states that can be reached from it, and
// mean nothing elsewhere. Costs may become infinite for operators that lead from no state on the way from
// there to the goal. The values of a goal's own subtask are distances to states with that goal, not to states
// that had it once, which the original also accepts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "abstractions/cartesian_refinement.hpp"
#include "abstractions/cartesian_subtasks.hpp"
#include "abstractions/refinement_tree.hpp"
#include "abstractions/split_task.hpp"
#include "core/memory.hpp"
#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

struct CartesianOptions {
  std::int64_t max_transitions = 1'000'000;  // of all abstractions, loops not counted
  bool landmarks = true;
  bool goals = true;
};

class Cartesian {
 public:
  Cartesian(const SearchRequest& request, Monitor& monitor, const CartesianOptions& options = {})
      : split_(request.compiled.task.conditional.empty()
                   ? std::nullopt
                   : std::make_optional(TaskSplit(request.compiled.task).take())),
        task_(split_ ? *split_ : request.compiled.task),
        costs_(task_.costs) {
    CartesianSubtasks subtasks(task_, request.start, request.goal);
    is_dead_end_ = !subtasks.is_solvable();
    if (is_dead_end_) return;
    std::vector<CartesianSubtask> list;
    if (options.landmarks) list = subtasks.landmarks(monitor);
    if (options.goals) std::ranges::move(subtasks.goals(), std::back_inserter(list));
    for (std::size_t i = 0; i < list.size() && !is_dead_end_; ++i) {
      const auto n_left = static_cast<std::int64_t>(list.size() - i);
      const std::int64_t share =
          std::max<std::int64_t>(1, (options.max_transitions - n_transitions_) / n_left);
      add_abstraction(list[i], request.start, share, monitor);
    }
    costs_ = {};
  }

  Cost operator()(const std::int32_t* values) const {
    if (is_dead_end_) return kInfinity;
    Cost sum = 0;
    for (const Abstraction& abstraction : abstractions_) {
      const std::int32_t state = abstraction.tree.abstract_state(values);
      const Cost distance = abstraction.distances[static_cast<std::size_t>(state)];
      if (distance == kInfinity) return kInfinity;
      sum = saturating_add(sum, distance);
    }
    return sum;
  }

  std::int64_t n_abstractions() const { return n_abstractions_; }
  std::int64_t n_states() const { return n_states_; }
  std::int64_t n_transitions() const { return n_transitions_; }

 private:
  struct Abstraction {
    RefinementTree tree;
    std::vector<Cost> distances;
  };

  // General costs can exceed the operators' own; kept small enough that no distance overflows. Lowering costs
  // is always allowed.
  static constexpr Cost kLargestCost = Cost{1} << 40;
  static constexpr std::int32_t kMaxStates = std::int32_t{1} << 22;

  void add_abstraction(const CartesianSubtask& subtask, const std::vector<std::int32_t>& start,
                       std::int64_t share, Monitor& monitor) {
    const Task task = subtask_of(task_, subtask, costs_);
    std::vector<std::int32_t> projected;
    for (std::size_t v = 0; v < start.size(); ++v) {
      projected.push_back(subtask.value_of[v][static_cast<std::size_t>(start[v])]);
    }
    CartesianRefinement refinement(task, subtask, std::move(projected));
    TemporaryCharge charge(monitor.account());
    const auto n_transitions = [&] {
      return static_cast<std::int64_t>(refinement.abstraction().transitions().size());
    };
    while (n_transitions() < share && refinement.abstraction().n_states() < kMaxStates &&
           refinement.refine()) {
      charge.set(refinement.abstraction().bytes() + refinement.tree().bytes());
      monitor.check();
    }
    ++n_abstractions_;
    n_states_ += refinement.abstraction().n_states();
    n_transitions_ += n_transitions();
    is_dead_end_ = !refinement.is_solvable();
    if (is_dead_end_) return;
    take_costs(refinement.saturated_costs(monitor));
    std::vector<Cost> distances = refinement.distances();
    if (std::ranges::all_of(distances, [](Cost distance) { return distance == 0; })) return;
    // For good: the heuristic lives as long as the search.
    monitor.account().charge(refinement.tree().bytes() + distances.size() * sizeof(Cost));
    abstractions_.push_back({refinement.tree(), std::move(distances)});
  }

  void take_costs(const std::vector<Cost>& saturated) {
    for (std::size_t op = 0; op < costs_.size(); ++op) {
      if (costs_[op] == kInfinity) continue;
      costs_[op] =
          saturated[op] == -kInfinity ? kInfinity : std::min(costs_[op] - saturated[op], kLargestCost);
    }
  }

  std::optional<Task> split_;  // without conditional effects, if the task has any
  const Task& task_;
  std::vector<Cost> costs_;  // what is left
  bool is_dead_end_ = false;
  std::vector<Abstraction> abstractions_;
  std::int64_t n_abstractions_ = 0;
  std::int64_t n_states_ = 0;
  std::int64_t n_transitions_ = 0;
};

}  // namespace plumbline
