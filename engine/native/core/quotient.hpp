// A task without its idle variables: those that no condition mentions, neither the goal nor a precondition,
// the condition of an effect or an axiom. States that differ in nothing else have the same plans, and after
// any operator they still differ in nothing else. Tasks keep such variables because networks and users look
// at them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/task.hpp"

namespace plumbline {

// Derived variables are not among them: they follow the others.
inline std::vector<bool> idle_variables(const Task& task) {
  std::vector<bool> is_idle(static_cast<std::size_t>(task.n_variables()), true);
  const auto mention = [&](std::span<const Fact> facts) {
    for (const Fact fact : facts) is_idle[static_cast<std::size_t>(fact.variable)] = false;
  };
  mention(task.goal);
  mention(task.preconditions.facts);
  mention(task.conditional.conditions.facts);
  mention(task.axioms.bodies.facts);
  for (std::int32_t v = 0; v < task.n_variables(); ++v) {
    if (task.axioms.is_derived(v)) is_idle[static_cast<std::size_t>(v)] = false;
  }
  return is_idle;
}

// Variables and operators keep their numbers, but no operator changes these variables.
inline Task without_effects_on(const std::vector<bool>& is_dropped, const Task& whole) {
  Task task = whole;
  const auto is_kept = [&](Fact fact) { return !is_dropped[static_cast<std::size_t>(fact.variable)]; };
  const auto append = [](FactRows& rows, std::span<const Fact> facts) {
    rows.facts.insert(rows.facts.end(), facts.begin(), facts.end());
    rows.begin.push_back(static_cast<std::int32_t>(rows.facts.size()));
  };
  task.effects = {{0}, {}};
  if (!whole.conditional.empty()) task.conditional = {{0}, {{0}, {}}, {}};
  for (std::int32_t op = 0; op < whole.n_operators(); ++op) {
    std::vector<Fact> kept;
    for (const Fact effect : whole.effects[op]) {
      if (is_kept(effect)) kept.push_back(effect);
    }
    append(task.effects, kept);
    if (whole.conditional.empty()) continue;
    for (std::int32_t i = whole.conditional.first(op); i < whole.conditional.last(op); ++i) {
      if (!is_kept(whole.conditional.fact(i))) continue;
      append(task.conditional.conditions, whole.conditional.conditions[i]);
      task.conditional.facts.push_back(whole.conditional.fact(i));
    }
    task.conditional.begin.push_back(static_cast<std::int32_t>(task.conditional.facts.size()));
  }
  return task;
}

class Quotient {
 public:
  // The task must outlive this object.
  explicit Quotient(const CompiledTask& whole) : whole_(whole) {
    const std::vector<bool> is_idle = idle_variables(whole.task);
    for (std::size_t v = 0; v < is_idle.size(); ++v) {
      if (is_idle[v]) idle_.push_back(v);
    }
    if (!idle_.empty()) part_ = std::make_unique<CompiledTask>(without_effects_on(is_idle, whole.task));
  }

  const CompiledTask& compiled() const { return part_ ? *part_ : whole_; }

  // The state that stands for all that differ from this one in idle variables only.
  void project(std::int32_t* values) const {
    for (const std::size_t variable : idle_) values[variable] = 0;
  }

 private:
  const CompiledTask& whole_;
  std::vector<std::size_t> idle_;
  std::unique_ptr<CompiledTask> part_;  // the task itself if no variable is idle
};

}  // namespace plumbline
