// Cheapest relaxed ways from a state to the goal, with operators paying for the most expensive precondition
// (h_max) or for all of them (h_add): generalized Dijkstra, an operator fires when its last precondition
// leaves the queue.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/fact_queue.hpp"
#include "core/task.hpp"
#include "heuristics/relaxation.hpp"

namespace plumbline {

enum class Combine { kMax, kSum };

template <Combine kCombine>
class RelaxedExploration {
 public:
  static constexpr std::int32_t kNoAchiever = -1;

  explicit RelaxedExploration(RelaxedTask task)
      : task_(std::move(task)),
        value_(static_cast<std::size_t>(task_.n_facts())),
        achiever_(value_.size()),
        unsatisfied_(static_cast<std::size_t>(task_.n_operators())),
        initial_unsatisfied_(unsatisfied_.size()),
        paid_(kCombine == Combine::kSum ? unsatisfied_.size() : 0) {
    for (std::int32_t o = 0; o < task_.n_operators(); ++o) {
      initial_unsatisfied_[index(o)] = static_cast<std::int32_t>(task_.preconditions[o].size());
    }
  }

  // The value of the goal in a state. Stops when the last goal fact leaves the queue, because only the goal
  // operator gives the goal: facts that leave it later get no meaningful value.
  Cost explore(const std::int32_t* values) {
    queue_.clear();
    std::fill(value_.begin(), value_.end(), kInfinity);
    std::copy(initial_unsatisfied_.begin(), initial_unsatisfied_.end(), unsatisfied_.begin());
    if constexpr (kCombine == Combine::kSum) std::copy(task_.costs.begin(), task_.costs.end(), paid_.begin());
    task_.for_each_fact_of(values, [this](std::int32_t fact) { improve(fact, 0, kNoAchiever); });
    Cost key;
    std::int32_t fact;
    while (queue_.pop(key, fact)) {
      if (value_[index(fact)] < key) continue;
      for (const std::int32_t o : task_.users[fact]) pay(o, key);
      if (const Cost goal = value_[index(task_.goal_fact)]; goal != kInfinity) return goal;
    }
    return kInfinity;
  }

  // The operator that first gave a fact its value in the last exploration; kNoAchiever for the state's own
  // facts.
  std::int32_t achiever(std::int32_t fact) const { return achiever_[index(fact)]; }

  // Of a fact that the way to the goal in the last exploration needs.
  Cost value(std::int32_t fact) const { return value_[index(fact)]; }

  const RelaxedTask& task() const { return task_; }

 private:
  // Sums over preconditions can double with every step of a long plan: they stay at this finite value.
  static constexpr Cost kLargest = std::numeric_limits<Cost>::max() / 4;

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  static Cost add(Cost a, Cost b) { return std::min(a + b, kLargest); }

  void improve(std::int32_t fact, Cost value, std::int32_t achiever) {
    if (value >= value_[index(fact)]) return;
    value_[index(fact)] = value;
    achiever_[index(fact)] = achiever;
    queue_.push(value, fact);
  }

  // One more precondition of an operator is reached, at the given value.
  void pay(std::int32_t o, Cost value) {
    if constexpr (kCombine == Combine::kSum) paid_[index(o)] = add(paid_[index(o)], value);
    if (--unsatisfied_[index(o)] > 0) return;
    const Cost reached = kCombine == Combine::kSum ? paid_[index(o)] : add(task_.costs[index(o)], value);
    for (const std::int32_t effect : task_.effects[o]) improve(effect, reached, o);
  }

  RelaxedTask task_;
  std::vector<Cost> value_;
  std::vector<std::int32_t> achiever_;
  std::vector<std::int32_t> unsatisfied_;
  std::vector<std::int32_t> initial_unsatisfied_;
  std::vector<Cost> paid_;  // cost of an operator and of its preconditions reached so far
  FactQueue<Cost, QueueOrder::kFifo> queue_;
};

}  // namespace plumbline
