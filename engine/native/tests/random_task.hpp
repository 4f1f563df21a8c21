// Small random tasks and the truth about them in the plainest way, for the tests of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "core/task.hpp"

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)

namespace plumbline::testing {

using State = std::vector<std::int32_t>;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int32_t below(std::int32_t n) {
    return static_cast<std::int32_t>(engine_() % static_cast<std::uint64_t>(n));
  }

 private:
  std::mt19937_64 engine_;
};

inline void add_row(FactRows& rows, const std::map<std::int32_t, std::int32_t>& facts) {
  for (const auto& [variable, value] : facts) rows.facts.push_back({variable, value});
  rows.begin.push_back(static_cast<std::int32_t>(rows.facts.size()));
}

// The first variables have up to four values and take part; `n_fillers` more have 100 and only make states
// wide.
inline Task random_task(Random& random, std::int32_t n_fillers) {
  Task task;
  const std::int32_t n_variables = 2 + random.below(4);
  for (std::int32_t v = 0; v < n_variables; ++v) task.domain_sizes.push_back(1 + random.below(4));
  for (std::int32_t v = 0; v < n_fillers; ++v) task.domain_sizes.push_back(100);
  task.fact_offset.push_back(0);
  for (const std::int32_t size : task.domain_sizes)
    task.fact_offset.push_back(task.fact_offset.back() + size);
  const auto facts = [&](std::int32_t most) {
    std::map<std::int32_t, std::int32_t> chosen;
    for (std::int32_t i = random.below(most + 1); i > 0; --i) {
      const std::int32_t variable = random.below(n_variables);
      chosen[variable] = random.below(task.domain_sizes[static_cast<std::size_t>(variable)]);
    }
    return chosen;
  };
  const Cost costs[] = {0, 1, 1, 2, 3, 70, 5000};
  task.preconditions.begin.push_back(0);
  task.effects.begin.push_back(0);
  const std::int32_t n_costs = 1 + random.below(7);
  for (std::int32_t op = 5 + random.below(150); op > 0; --op) {
    add_row(task.preconditions, facts(4));
    add_row(task.effects, facts(2));
    task.costs.push_back(costs[random.below(n_costs)]);
  }
  for (const auto& [variable, value] : facts(3)) task.goal.push_back({variable, value});
  return task;
}

inline bool holds(std::span<const Fact> facts, const State& state) {
  for (const Fact fact : facts) {
    if (state[static_cast<std::size_t>(fact.variable)] != fact.value) return false;
  }
  return true;
}

// Layer by layer, derived variables have their defaults except for what rules say.
inline State extend(const Task& task, State state) {
  const Axioms& axioms = task.axioms;
  const auto at = [&](std::int32_t variable) -> std::int32_t& {
    return state[static_cast<std::size_t>(variable)];
  };
  const std::set<std::int32_t> layers(axioms.layer.begin(), axioms.layer.end());
  for (const std::int32_t layer : layers) {
    if (layer < 0) continue;
    const auto is_here = [&](std::int32_t v) { return axioms.layer[static_cast<std::size_t>(v)] == layer; };
    for (std::int32_t v = 0; v < task.n_variables(); ++v) {
      if (is_here(v)) at(v) = axioms.default_of(v);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::int32_t rule = 0; rule < axioms.n_rules(); ++rule) {
        const std::int32_t head = axioms.head(rule), value = 1 - axioms.default_of(head);
        if (!is_here(head) || at(head) == value || !holds(axioms.bodies[rule], state)) continue;
        at(head) = value;
        changed = true;
      }
    }
  }
  return state;
}

inline State apply(const Task& task, std::int32_t op, const State& before) {
  State state = before;
  for (const Fact fact : task.effects[op]) state[static_cast<std::size_t>(fact.variable)] = fact.value;
  const ConditionalEffects& conditional = task.conditional;
  for (std::int32_t i = conditional.first(op); i < conditional.last(op); ++i) {
    if (!holds(conditional.conditions[i], before)) continue;
    state[static_cast<std::size_t>(conditional.fact(i).variable)] = conditional.fact(i).value;
  }
  return extend(task, state);
}

inline State random_state(Random& random, const Task& task) {
  State state;
  for (const std::int32_t size : task.domain_sizes) state.push_back(random.below(size));
  return state;
}

// The cost of the plan, kInfinity if it is none.
inline Cost plan_cost(const Task& task, State state, std::span<const std::int32_t> plan) {
  Cost cost = 0;
  state = extend(task, state);
  for (const std::int32_t op : plan) {
    if (!holds(task.preconditions[op], state)) return kInfinity;
    state = apply(task, op, state);
    cost += task.costs[static_cast<std::size_t>(op)];
  }
  return holds(task.goal, state) ? cost : kInfinity;
}

}  // namespace plumbline::testing
