// A task with everything that is derived from it once and shared by all tables and searches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/packed_axioms.hpp"
#include "core/packed_operators.hpp"
#include "core/relevant_task.hpp"
#include "core/state_packing.hpp"
#include "core/successor_generator.hpp"
#include "core/task.hpp"

namespace plumbline {

struct RelevantPart;

struct CompiledTask {
  explicit CompiledTask(Task flat_task)
      : task(std::move(flat_task)),
        packing(task),
        generator(task, packing),
        axioms(task.axioms.empty() ? std::nullopt : std::make_optional<PackedAxioms>(task, packing)),
        operators(task, packing, axioms ? &*axioms : nullptr, generator.order()),
        position(static_cast<std::size_t>(task.n_operators())) {
    for (std::size_t i = 0; i < position.size(); ++i) {
      const std::int32_t op = generator.order()[i];
      position[static_cast<std::size_t>(op)] = i;
      preconditions.emplace_back(task.preconditions[op], packing);
      costs.push_back(task.costs[static_cast<std::size_t>(op)]);
    }
  }

  Task task;
  StatePacking packing;
  SuccessorGenerator generator;
  std::optional<PackedAxioms> axioms;
  // Everything from here on is by position in the generator's order.
  PackedOperators<0> operators;
  std::vector<PartialState> preconditions;
  std::vector<Cost> costs;
  std::vector<std::size_t> position;  // of the task's operators

  // False if a value is outside its variable's domain. Derived values are computed, whatever is given.
  bool pack(const std::int32_t* values, Word* words) const {
    if (!packing.pack(values, words)) return false;
    if (axioms) axioms->extend(words);
    return true;
  }

  // What the task's goal depends on; made when it is first asked for, by whichever thread.
  const RelevantPart& relevant() const;

 private:
  mutable std::once_flag relevant_once_;
  mutable std::unique_ptr<RelevantPart> relevant_;
};

struct RelevantPart {
  explicit RelevantPart(RelevantTask part)
      : compiled(std::move(part.task)),
        variables(std::move(part.variables)),
        operators(std::move(part.operators)) {}

  CompiledTask compiled;
  std::vector<std::int32_t> variables;  // their numbers in the whole task
  std::vector<std::int32_t> operators;  // likewise
};

inline const RelevantPart& CompiledTask::relevant() const {
  std::call_once(relevant_once_, [this] { relevant_ = std::make_unique<RelevantPart>(relevant_task(task)); });
  return *relevant_;
}

}  // namespace plumbline
