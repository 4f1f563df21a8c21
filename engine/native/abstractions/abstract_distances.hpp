// Cheapest abstract plans from all states of a Cartesian abstraction, kept up to date while it is refined
// (Seipp, von Allmen and Helmert 2020, "Incremental Search for Counterexample-Guided Cartesian Abstraction
// Refinement"): a split can only raise distances, and only of states whose cheapest plan led through the
// split state. Among cheapest plans shortest ones are kept, so that distances fall strictly along them even
// where operators are free.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "abstractions/cartesian_abstraction.hpp"
#include "core/task.hpp"

namespace plumbline {

class AbstractDistances {
 public:
  static constexpr std::int32_t kNone = -1;

  // All states are goals to begin with.
  explicit AbstractDistances(const CartesianAbstraction& abstraction)
      : abstraction_(abstraction),
        is_goal_(index(abstraction.n_states()), 1),
        distance_(is_goal_.size(), Distance{0, 0}),
        next_(is_goal_.size(), kNone),
        is_dirty_(is_goal_.size(), 0) {}

  bool is_goal(std::int32_t state) const { return is_goal_[index(state)] != 0; }
  Cost cost(std::int32_t state) const { return distance_[index(state)].cost; }
  // The transition a cheapest plan begins with; for states with a plan that are no goals.
  std::int32_t next(std::int32_t state) const { return next_[index(state)]; }

  // To be called after each split of a state into itself and the last one.
  void update(std::int32_t state, bool is_goal, bool part_is_goal) {
    const std::int32_t part = abstraction_.n_states() - 1;
    is_goal_[index(state)] = is_goal;
    is_goal_.push_back(part_is_goal);
    distance_.push_back(distance_[index(state)]);
    next_.push_back(next_[index(state)]);
    is_dirty_.push_back(0);
    if (cost(state) == kInfinity) return;
    find_dirty(state, part);
    settle_dirty();
  }

 private:
  struct Distance {
    Cost cost;
    std::int32_t steps;
    auto operator<=>(const Distance&) const = default;
  };
  using Entry = std::pair<Distance, std::int32_t>;
  using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
  static constexpr Distance kUnreachable{kInfinity, 0};

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  const AbstractTransition& transition(std::int32_t number) const {
    return abstraction_.transitions()[index(number)];
  }

  Distance through(std::int32_t number) const {
    const Distance after = distance_[index(transition(number).target)];
    if (after.cost == kInfinity) return kUnreachable;
    return {after.cost + abstraction_.task().costs[index(transition(number).op)], after.steps + 1};
  }

  // States that lost every plan as cheap as before, by increasing distance: what a state may depend on
  // is decided before it.
  void find_dirty(std::int32_t state, std::int32_t part) {
    Queue candidates;
    candidates.push({distance_[index(state)], state});
    candidates.push({distance_[index(part)], part});
    while (!candidates.empty()) {
      const std::int32_t candidate = candidates.top().second;
      candidates.pop();
      if (is_dirty_[index(candidate)] || find_support(candidate)) continue;
      is_dirty_[index(candidate)] = 1;
      dirty_.push_back(candidate);
      for (const std::int32_t number : abstraction_.incoming(candidate)) {
        const std::int32_t source = transition(number).source;
        if (next_[index(source)] == number && !is_dirty_[index(source)]) {
          candidates.push({distance_[index(source)], source});
        }
      }
    }
  }

  bool find_support(std::int32_t state) {
    if (is_goal(state)) return true;
    for (const std::int32_t number : abstraction_.outgoing(state)) {
      if (!is_dirty_[index(transition(number).target)] && through(number) == distance_[index(state)]) {
        next_[index(state)] = number;
        return true;
      }
    }
    return false;
  }

  void settle_dirty() {
    Queue queue;
    for (const std::int32_t state : dirty_) distance_[index(state)] = kUnreachable;
    for (const std::int32_t state : dirty_) {
      next_[index(state)] = kNone;
      for (const std::int32_t number : abstraction_.outgoing(state)) {
        if (!is_dirty_[index(transition(number).target)]) improve(number, queue);
      }
    }
    while (!queue.empty()) {
      const auto [distance, state] = queue.top();
      queue.pop();
      if (distance != distance_[index(state)]) continue;
      for (const std::int32_t number : abstraction_.incoming(state)) {
        if (is_dirty_[index(transition(number).source)]) improve(number, queue);
      }
    }
    for (const std::int32_t state : dirty_) is_dirty_[index(state)] = 0;
    dirty_.clear();
  }

  void improve(std::int32_t number, Queue& queue) {
    const std::int32_t source = transition(number).source;
    const Distance distance = through(number);
    if (distance >= distance_[index(source)]) return;
    distance_[index(source)] = distance;
    next_[index(source)] = number;
    queue.push({distance, source});
  }

  const CartesianAbstraction& abstraction_;
  std::vector<char> is_goal_;
  std::vector<Distance> distance_;
  std::vector<std::int32_t> next_;
  std::vector<char> is_dirty_;
  std::vector<std::int32_t> dirty_;
};

}  // namespace plumbline
