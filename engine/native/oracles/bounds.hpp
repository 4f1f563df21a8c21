// Upper bounds u(s) >= h*(s) by state, each with the step that proves it: an operator, or a dominance value.
// Bounds only ever fall; a fall is passed on to all known predecessors, those of the policy's run graph and
// those of registered walks. What is known without dominance values is kept separately.
// See docs/theory/oracles.md, "Propagation".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/state_store.hpp"
#include "core/task.hpp"
#include "policies/run_graph.hpp"

namespace plumbline {

// The states whose bounds fell since the last look, in the order of their first fall.
class Fallen {
 public:
  void add(std::int32_t state) {
    const auto number = static_cast<std::size_t>(state);
    if (number >= is_in_.size()) is_in_.resize(std::max(number + 1, 2 * is_in_.size()));
    if (!is_in_[number]) states_.push_back(state);
    is_in_[number] = true;
  }

  const std::vector<std::int32_t>& states() const { return states_; }
  void clear() {
    for (const std::int32_t state : states_) is_in_[static_cast<std::size_t>(state)] = false;
    states_.clear();
  }

 private:
  std::vector<std::int32_t> states_;
  std::vector<bool> is_in_;
};

class Bounds {
 public:
  // Instead of an operator.
  static constexpr std::int32_t kMorph = -1;
  static constexpr std::int32_t kGoal = -2;
  static constexpr std::int32_t kNothing = -3;

  // Who found a step: these two, or any other number.
  static constexpr std::int32_t kByGoal = 0;
  static constexpr std::int32_t kByPolicy = 1;

  struct Step {
    std::int64_t gain = 0;
    std::int32_t via = kNothing;
    std::int32_t next = -1;
    std::int32_t origin = -1;
  };

  // Both must outlive this object; without a policy there is no graph.
  Bounds(StateStore& store, RunGraph* policy)
      : store_(store), policy_(policy), walks_(std::make_shared<Walks>()) {}

  StateStore& store() const { return store_; }
  Bounds* plans() { return plans_.get(); }  // null: no bound rests on a dominance value

  Cost u(std::int32_t state) const {
    const auto number = static_cast<std::size_t>(state);
    return number < u_.size() ? u_[number] : kInfinity;
  }
  std::span<const Cost> all() {
    grow();
    return u_;
  }
  const Step& step(std::int32_t state) {
    grow();
    return steps_[static_cast<std::size_t>(state)];
  }
  Fallen& changed() { return changed_; }

  // A list of its own of states whose bounds fall, for as long as it is held.
  std::shared_ptr<Fallen> watch() {
    auto fallen = std::make_shared<Fallen>();
    watches_.push_back(fallen);
    return fallen;
  }

  // A walk through the state space. Its last state may be a goal, have a bound, or neither. Later falls are
  // passed back along a walk that is registered.
  void add_path(std::span<const std::int32_t> states, std::span<const std::int32_t> operators,
                std::int32_t origin, bool is_registered) {
    if (is_registered) enter(states, operators, origin);
    follow(states, operators, origin);
    if (!plans_) return;
    for (const std::int32_t state : plans_->follow(states, operators, origin)) {
      if (plans_->u(state) < u(state)) take_over(state);
    }
  }

  // False if an operator is not applicable.
  bool add_plan(std::int32_t state, std::span<const std::int32_t> operators, std::int32_t origin) {
    std::vector<std::int32_t> states{state};
    for (const std::int32_t op : operators) {
      std::int32_t successor = -1;
      if (!store_.apply(1, &states.back(), &op, &successor) || successor < 0) return false;
      states.push_back(successor);
    }
    add_path(states, operators, origin, false);
    return true;
  }

  // D(source, state) = gain, so u(state) <= u(source) - gain. It says nothing about unsolvable states:
  // docs/theory/pitfalls.md, P13.
  void add_morph(std::int32_t state, std::int32_t source, std::int64_t gain, std::int32_t origin) {
    grow();
    const Cost bound = u(source);
    if (bound == kInfinity || bound - gain >= u(state)) return;
    if (!plans_) plans_ = copy();
    set(state, bound - gain, {gain, kMorph, source, origin});
    propagate({state});
  }

 private:
  struct Predecessor {
    std::int32_t state;
    std::int32_t op;
    std::int32_t origin;
    bool operator==(const Predecessor&) const = default;
  };
  using Walks = std::unordered_map<std::int32_t, std::vector<Predecessor>>;  // by state, each once

  void grow() {
    const auto size = static_cast<std::size_t>(store_.size());
    if (size <= u_.size()) return;
    u_.resize(std::max(size, 2 * u_.size()), kInfinity);
    steps_.resize(u_.size());
  }

  std::unique_ptr<Bounds> copy() const {
    auto other = std::make_unique<Bounds>(store_, policy_);
    other->walks_ = walks_;
    other->u_ = u_;
    other->steps_ = steps_;
    other->changed_ = changed_;
    return other;
  }

  void enter(std::span<const std::int32_t> states, std::span<const std::int32_t> operators,
             std::int32_t origin) {
    for (std::size_t k = 0; k < operators.size(); ++k) {
      const Predecessor known{states[k], operators[k], origin};
      std::vector<Predecessor>& all = (*walks_)[states[k + 1]];
      if (std::ranges::find(all, known) == all.end()) all.push_back(known);
    }
  }

  // Lowers the bounds along a walk, in this list alone; returns the states whose bounds fell.
  std::vector<std::int32_t> follow(std::span<const std::int32_t> states,
                                   std::span<const std::int32_t> operators, std::int32_t origin) {
    grow();
    std::vector<std::int32_t> fallen;
    if (recognize_goal(states.back())) fallen.push_back(states.back());
    for (std::size_t k = operators.size(); k-- > 0;) {
      if (relax({states[k], operators[k], origin}, states[k + 1])) fallen.push_back(states[k]);
    }
    return propagate(std::move(fallen));
  }

  // Takes over a plan that only the separate list knows. Bounds along it may have fallen here, by a dominance
  // value, before the predecessor was known to which that list passes them on.
  void take_over(std::int32_t state) {
    std::vector<std::int32_t> chain;
    for (; plans_->step(state).via != kGoal; state = plans_->step(state).next) chain.push_back(state);
    for (std::size_t k = chain.size(); k-- > 0;) {
      const Step step = plans_->step(chain[k]);
      const std::int32_t states[] = {chain[k], step.next};
      follow(states, {&step.via, 1}, step.origin);
    }
  }

  bool recognize_goal(std::int32_t state) {
    std::uint8_t is_goal = 0;
    if (u(state) <= 0 || !store_.is_goal(1, &state, &is_goal) || is_goal == 0) return false;
    set(state, 0, {0, kGoal, -1, kByGoal});
    return true;
  }

  // Whether u(before) <= c(operator) + u(state) is news.
  bool relax(const Predecessor& before, std::int32_t state) {
    const Cost beyond = u(state);
    if (beyond == kInfinity) return false;
    const Cost bound = beyond + store_.task().costs[static_cast<std::size_t>(before.op)];
    if (bound >= u(before.state)) return false;
    set(before.state, bound, {0, before.op, state, before.origin});
    return true;
  }

  // Passes falls on until nothing falls anymore; all that fell.
  std::vector<std::int32_t> propagate(std::vector<std::int32_t> fallen) {
    for (std::size_t k = 0; k < fallen.size(); ++k) {
      const std::int32_t state = fallen[k];
      for (std::int32_t parent = policy_ == nullptr ? -1 : (*policy_)[state].first_parent; parent >= 0;
           parent = (*policy_)[parent].next_parent) {
        if (relax({parent, (*policy_)[parent].decision, kByPolicy}, state)) fallen.push_back(parent);
      }
      const auto known = walks_->find(state);
      if (known == walks_->end()) continue;
      for (const Predecessor& before : known->second) {
        if (relax(before, state)) fallen.push_back(before.state);
      }
    }
    return fallen;
  }

  void set(std::int32_t state, Cost bound, const Step& step) {
    u_[static_cast<std::size_t>(state)] = bound;
    steps_[static_cast<std::size_t>(state)] = step;
    changed_.add(state);
    for (std::size_t i = 0; i < watches_.size();) {
      if (const auto fallen = watches_[i].lock()) {
        fallen->add(state);
        ++i;
      } else {
        watches_.erase(watches_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  StateStore& store_;
  RunGraph* policy_;
  std::shared_ptr<Walks> walks_;  // whose predecessors are common knowledge
  std::vector<Cost> u_;
  std::vector<Step> steps_;
  Fallen changed_;
  std::vector<std::weak_ptr<Fallen>> watches_;
  std::unique_ptr<Bounds> plans_;
};

}  // namespace plumbline
