// Counterexample-guided refinement of a Cartesian abstraction for one subtask (Seipp and Helmert 2018):
// follow a cheapest abstract plan from the start state and split the abstract state where it first goes
// wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "abstractions/abstract_distances.hpp"
#include "abstractions/cartesian_abstraction.hpp"
#include "abstractions/cartesian_subtasks.hpp"
#include "abstractions/refinement_tree.hpp"
#include "core/task.hpp"
#include "heuristics/relaxed_reachability.hpp"
#include "search/search.hpp"

namespace plumbline {

class CartesianRefinement {
 public:
  // `task` is that of the subtask, and so are the values of `start`.
  CartesianRefinement(const Task& task, const CartesianSubtask& subtask, std::vector<std::int32_t> start)
      : task_(task),
        subtask_(subtask),
        start_(std::move(start)),
        abstraction_(with_split_landmark()),
        distances_(abstraction_) {}

  const CartesianAbstraction& abstraction() const { return abstraction_; }
  const RefinementTree& tree() const { return tree_; }
  bool is_solvable() const { return distances_.cost(initial_) != kInfinity; }

  std::vector<Cost> distances() const {
    std::vector<Cost> result;
    for (std::int32_t state = 0; state < abstraction_.n_states(); ++state)
      result.push_back(distances_.cost(state));
    return result;
  }

  // False if nothing is left to refine: the cheapest abstract plan is a plan, or there is none.
  bool refine() {
    if (!is_solvable()) return false;
    const std::optional<Split> split = find_flaw();
    if (!split) return false;
    const bool was_goal = distances_.is_goal(split->state);
    this->split(*split);
    const auto is_goal = [&](std::int32_t state) {
      return was_goal && abstraction_.sets().contains(state, task_.goal);
    };
    distances_.update(split->state, is_goal(split->state), is_goal(abstraction_.n_states() - 1));
    return true;
  }

  // What an operator must cost so that no distance changes, seen from the abstract states on the way from the
  // start to the goal: -kInfinity for operators that no such way uses.
  std::vector<Cost> saturated_costs(Monitor& monitor) const {
    std::vector<Cost> result(task_.costs.size(), -kInfinity);
    const std::vector<bool> is_reached = reached();
    for (const AbstractTransition& transition : abstraction_.transitions()) {
      const Cost before = distances_.cost(transition.source);
      const Cost after = distances_.cost(transition.target);
      if (!is_reached[index(transition.source)] || before == kInfinity || after == kInfinity) continue;
      result[index(transition.op)] = std::max(result[index(transition.op)], before - after);
    }
    for (std::int32_t op = 0; op < task_.n_operators(); ++op) {
      monitor.check();
      if (result[index(op)] < 0 && task_.costs[index(op)] != kInfinity && has_loop(op, is_reached))
        result[index(op)] = 0;
    }
    return result;
  }

 private:
  struct Split {
    std::int32_t state;
    std::int32_t variable;
    std::vector<std::int32_t> wanted;  // values
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  // States with a fact that cannot be true before the landmark is have had it: they must be goals, whatever
  // becomes of the rest.
  CartesianAbstraction with_split_landmark() {
    CartesianAbstraction abstraction(task_);
    if (!subtask_.is_landmark) return abstraction;
    RelaxedReachability reachability(task_);
    const std::int32_t landmark = task_.fact_number(task_.goal.front());
    const std::vector<bool> before =
        reachability.reached(start_, landmark, RelaxedReachability::Avoid::kOperators);
    for (std::int32_t v = 0; v < task_.n_variables(); ++v) {
      std::vector<std::int32_t> late;
      for (std::int32_t x = 0; x < task_.domain_sizes[index(v)]; ++x) {
        const std::int32_t fact = task_.fact_number({v, x});
        if (fact != landmark && !before[index(fact)]) late.push_back(x);
      }
      if (late.empty()) continue;
      abstraction.split(initial_, v, late);
      tree_.split(initial_, v, concrete(v, late));
    }
    return abstraction;
  }

  void split(const Split& split) {
    abstraction_.split(split.state, split.variable, split.wanted);
    tree_.split(split.state, split.variable, concrete(split.variable, split.wanted));
    if (split.state == initial_ && std::ranges::count(split.wanted, start_[index(split.variable)]) > 0) {
      initial_ = abstraction_.n_states() - 1;
    }
  }

  // The values of the whole task that are these in the subtask, ascending.
  std::vector<std::int32_t> concrete(std::int32_t variable, std::span<const std::int32_t> values) const {
    std::vector<std::int32_t> result;
    const std::vector<std::int32_t>& value_of = subtask_.value_of[index(variable)];
    for (std::size_t x = 0; x < value_of.size(); ++x) {
      if (std::ranges::count(values, value_of[x]) > 0) result.push_back(static_cast<std::int32_t>(x));
    }
    return result;
  }

  std::optional<Split> find_flaw() {
    state_ = start_;
    std::int32_t at = initial_;
    while (!distances_.is_goal(at)) {
      const AbstractTransition& step = abstraction_.transitions()[index(distances_.next(at))];
      const auto preconditions = task_.preconditions[step.op];
      if (!holds(preconditions)) return split_towards(at, preconditions);
      successor_ = state_;
      for (const Fact effect : task_.effects[step.op]) successor_[index(effect.variable)] = effect.value;
      if (std::optional<Split> deviation = split_towards(at, step.target)) return deviation;
      std::swap(state_, successor_);
      at = step.target;
    }
    return split_towards(at, task_.goal);
  }

  // So that facts which do not hold are separated from the state; nothing if they all hold.
  std::optional<Split> split_towards(std::int32_t at, std::span<const Fact> facts) const {
    std::optional<Split> best;
    for (const Fact fact : facts) {
      if (state_[index(fact.variable)] != fact.value && is_better(at, fact.variable, best)) {
        best = Split{at, fact.variable, {fact.value}};
      }
    }
    return best;
  }

  // So that states from which the target is reached are separated from this one; nothing if it is reached.
  std::optional<Split> split_towards(std::int32_t at, std::int32_t target) const {
    std::optional<Split> best;
    for (std::int32_t v = 0; v < task_.n_variables(); ++v) {
      if (abstraction_.sets().contains(target, {v, successor_[index(v)]}) || !is_better(at, v, best))
        continue;
      best = Split{at, v, {}};
      for (std::int32_t x = 0; x < task_.domain_sizes[index(v)]; ++x) {
        const Fact fact{v, x};
        if (abstraction_.sets().contains(at, fact) && abstraction_.sets().contains(target, fact))
          best->wanted.push_back(x);
      }
    }
    return best;
  }

  // The variable that is refined most already, that is with the smallest part of its values left.
  bool is_better(std::int32_t at, std::int32_t variable, const std::optional<Split>& best) const {
    if (!best) return true;
    const auto left = [&](std::int32_t v) { return std::int64_t{abstraction_.sets().count(at, v)}; };
    const auto size = [&](std::int32_t v) { return std::int64_t{task_.domain_sizes[index(v)]}; };
    return left(variable) * size(best->variable) < left(best->variable) * size(variable);
  }

  bool holds(std::span<const Fact> facts) const {
    return std::ranges::all_of(facts, [&](Fact fact) { return state_[index(fact.variable)] == fact.value; });
  }

  // Abstract states that can be reached from the start.
  std::vector<bool> reached() const {
    std::vector<bool> is_reached(index(abstraction_.n_states()));
    std::vector<std::int32_t> queue{initial_};
    is_reached[index(initial_)] = true;
    while (!queue.empty()) {
      const std::int32_t state = queue.back();
      queue.pop_back();
      for (const std::int32_t number : abstraction_.outgoing(state)) {
        const std::int32_t target = abstraction_.transitions()[index(number)].target;
        if (!is_reached[index(target)]) queue.push_back(target);
        is_reached[index(target)] = true;
      }
    }
    return is_reached;
  }

  bool has_loop(std::int32_t op, const std::vector<bool>& is_reached) const {
    for (std::int32_t state = 0; state < abstraction_.n_states(); ++state) {
      if (is_reached[index(state)] && distances_.cost(state) != kInfinity && abstraction_.has_loop(state, op))
        return true;
    }
    return false;
  }

  const Task& task_;
  const CartesianSubtask& subtask_;
  std::vector<std::int32_t> start_;
  std::int32_t initial_ = 0;  // the abstract state of the start
  RefinementTree tree_;
  CartesianAbstraction abstraction_;
  AbstractDistances distances_;
  std::vector<std::int32_t> state_;  // where the plan leads
  std::vector<std::int32_t> successor_;
};

}  // namespace plumbline
