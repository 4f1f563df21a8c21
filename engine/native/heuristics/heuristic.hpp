// What the searches expect of a heuristic, and how they evaluate the successors of a state.
//
// A heuristic is constructed from a task; values are one per variable; kInfinity says "no plan from here".
// An incremental heuristic also learns from a state what helps with its successors. LM-cut does: all
// landmarks of a state that the operator in between is not part of stay landmarks (Pommerening and Helmert
// 2013, "Incremental LM-Cut"), which saves half of its time or more. Its values then depend on the path to a
// state; they are admissible on every path, and fall along an operator by its cost at most.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "core/task.hpp"

namespace plumbline {

template <class H>
concept Heuristic = requires(H heuristic, const std::int32_t* values, std::span<const Fact> goal) {
  { heuristic(values) } -> std::same_as<Cost>;
  heuristic.set_goal(goal);
};

// expand(s) comes once before the successors of s, evaluate_successor(s[o], o) for each that is wanted; o is
// the operator's number in the task. A call of the heuristic itself in between ends the expansion, and
// evaluate_successor is then the same as that call.
template <class H>
concept IncrementalHeuristic =
    Heuristic<H> && requires(H heuristic, const std::int32_t* values, std::int32_t op) {
      heuristic.expand(values);
      { heuristic.evaluate_successor(values, op) } -> std::same_as<Cost>;
    };

}  // namespace plumbline
