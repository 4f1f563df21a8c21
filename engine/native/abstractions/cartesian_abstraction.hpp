// A Cartesian abstraction of a task (Seipp and Helmert 2018): its states are products of value subsets, one
// per variable. Splitting a state rewires its transitions; self-loops are not stored, they are recognized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "abstractions/value_sets.hpp"
#include "core/task.hpp"

namespace plumbline {

struct AbstractTransition {
  std::int32_t op;
  std::int32_t source;
  std::int32_t target;
};

class CartesianAbstraction {
 public:
  // Operators of infinite cost are left out.
  explicit CartesianAbstraction(const Task& task)
      : task_(task), sets_(task.domain_sizes), incoming_(1), outgoing_(1), achievers_(index(task.n_facts())) {
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      if (task.costs[index(op)] == kInfinity) continue;
      for (const Fact effect : task.effects[op]) achievers_[index(task.fact_number(effect))].push_back(op);
    }
  }

  const Task& task() const { return task_; }
  const ValueSets& sets() const { return sets_; }
  std::int32_t n_states() const { return static_cast<std::int32_t>(incoming_.size()); }
  const std::vector<AbstractTransition>& transitions() const { return transitions_; }
  // Numbers of transitions.
  std::span<const std::int32_t> incoming(std::int32_t state) const { return incoming_[index(state)]; }
  std::span<const std::int32_t> outgoing(std::int32_t state) const { return outgoing_[index(state)]; }

  bool has_loop(std::int32_t state, std::int32_t op) const {
    return sets_.contains(state, task_.preconditions[op]) && sets_.contains(state, task_.effects[op]);
  }

  // Moves the part of the state with these values of the variable, not all it has, to a new state: the last.
  // Transitions keep their numbers.
  void split(std::int32_t state, std::int32_t variable, std::span<const std::int32_t> values) {
    const std::vector<std::int32_t> loops = loops_to_break(state, variable);
    const std::int32_t part = n_states();
    sets_.add_copy(state);
    for (std::int32_t x = 0; x < task_.domain_sizes[index(variable)]; ++x) sets_.remove(part, {variable, x});
    for (const std::int32_t x : values) {
      sets_.remove(state, {variable, x});
      sets_.add(part, {variable, x});
    }
    incoming_.emplace_back();
    outgoing_.emplace_back();
    rewire_incoming(state, part, variable);
    rewire_outgoing(state, part, variable);
    for (const std::int32_t op : loops) break_loop(op, state, part, variable);
  }

  std::size_t bytes() const {
    constexpr std::size_t per_state = 2 * sizeof(std::vector<std::int32_t>) + 64;  // and what is derived
    return index(n_states()) * (sets_.bytes_per_set() + per_state) +
           transitions_.size() * (sizeof(AbstractTransition) + 2 * sizeof(std::int32_t));
  }

 private:
  static constexpr std::int32_t kNone = -1;
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  static std::int32_t value_in(std::span<const Fact> facts, std::int32_t variable) {
    for (const Fact fact : facts) {
      if (fact.variable == variable) return fact.value;
    }
    return kNone;
  }
  std::int32_t precondition(std::int32_t op, std::int32_t variable) const {
    return value_in(task_.preconditions[op], variable);
  }
  // The value after the operator, kNone if it says nothing of the variable.
  std::int32_t postcondition(std::int32_t op, std::int32_t variable) const {
    const std::int32_t effect = value_in(task_.effects[op], variable);
    return effect == kNone ? precondition(op, variable) : effect;
  }

  // Loops of operators that change the variable: others stay loops on one side or on both.
  std::vector<std::int32_t> loops_to_break(std::int32_t state, std::int32_t variable) const {
    std::vector<std::int32_t> loops;
    for (std::int32_t x = 0; x < task_.domain_sizes[index(variable)]; ++x) {
      if (!sets_.contains(state, {variable, x})) continue;
      for (const std::int32_t op : achievers_[index(task_.fact_number({variable, x}))]) {
        if (has_loop(state, op)) loops.push_back(op);
      }
    }
    return loops;
  }

  void break_loop(std::int32_t op, std::int32_t state, std::int32_t part, std::int32_t variable) {
    const std::int32_t before = precondition(op, variable);
    const bool leads_to_part = sets_.contains(part, {variable, postcondition(op, variable)});
    if (before != kNone && sets_.contains(part, {variable, before}) == leads_to_part) return;
    add({op, leads_to_part ? state : part, leads_to_part ? part : state});
  }

  void rewire_incoming(std::int32_t state, std::int32_t part, std::int32_t variable) {
    std::vector<std::int32_t> kept;
    for (const std::int32_t number : std::exchange(incoming_[index(state)], {})) {
      AbstractTransition& transition = transitions_[index(number)];
      const std::int32_t after = postcondition(transition.op, variable);
      const auto [stays, moves] = sides(transition.source, after, state, part, variable);
      if (stays) kept.push_back(number);
      if (stays && moves) {
        add({transition.op, transition.source, part});
      } else if (moves) {
        transition.target = part;
        incoming_[index(part)].push_back(number);
      }
    }
    append(incoming_[index(state)], kept);
  }

  void rewire_outgoing(std::int32_t state, std::int32_t part, std::int32_t variable) {
    std::vector<std::int32_t> kept;
    for (const std::int32_t number : std::exchange(outgoing_[index(state)], {})) {
      AbstractTransition& transition = transitions_[index(number)];
      const std::int32_t before = precondition(transition.op, variable);
      const bool is_set = before == kNone && postcondition(transition.op, variable) != kNone;
      const auto [stays, moves] =
          is_set ? std::pair(true, true) : sides(transition.target, before, state, part, variable);
      if (stays) kept.push_back(number);
      if (stays && moves) {
        add({transition.op, part, transition.target});
      } else if (moves) {
        transition.source = part;
        outgoing_[index(part)].push_back(number);
      }
    }
    append(outgoing_[index(state)], kept);
  }

  // Whether a transition still touches the state, and its new part: by the operator's value of the variable,
  // or if it has none by the values of the state at the other end.
  std::pair<bool, bool> sides(std::int32_t other_end, std::int32_t value, std::int32_t state,
                              std::int32_t part, std::int32_t variable) const {
    if (value != kNone) {
      const bool moves = sets_.contains(part, {variable, value});
      return {!moves, moves};
    }
    return {sets_.intersects(other_end, state, variable), sets_.intersects(other_end, part, variable)};
  }

  void add(AbstractTransition transition) {
    const auto number = static_cast<std::int32_t>(transitions_.size());
    transitions_.push_back(transition);
    outgoing_[index(transition.source)].push_back(number);
    incoming_[index(transition.target)].push_back(number);
  }

  static void append(std::vector<std::int32_t>& list, const std::vector<std::int32_t>& more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  const Task& task_;
  ValueSets sets_;
  std::vector<AbstractTransition> transitions_;
  std::vector<std::vector<std::int32_t>> incoming_;
  std::vector<std::vector<std::int32_t>> outgoing_;
  std::vector<std::vector<std::int32_t>> achievers_;  // by fact
};

}  // namespace plumbline
