// What the interface needs of a heuristic: searches with it, and its value in many states.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/task.hpp"
#include "heuristics/heuristic.hpp"
#include "interface/abi.hpp"
#include "search/search.hpp"

namespace plumbline {

// A heuristic behind a virtual call: for evaluation outside of searches.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void set_goal(std::span<const Fact> goal) = 0;
  virtual Cost evaluate(const std::int32_t* values) = 0;
  // The successors of one state as a search evaluates them: first the state, then each with its operator.
  virtual void expand(const std::int32_t* values) = 0;
  virtual Cost evaluate_successor(const std::int32_t* values, std::int32_t op) = 0;
};

template <class Heuristic>
class EvaluatorOf final : public Evaluator {
 public:
  template <class... Arguments>
  explicit EvaluatorOf(const Task& task, Arguments... arguments) : heuristic_(task, arguments...) {}
  void set_goal(std::span<const Fact> goal) override { heuristic_.set_goal(goal); }
  Cost evaluate(const std::int32_t* values) override { return heuristic_(values); }

  void expand([[maybe_unused]] const std::int32_t* values) override {
    if constexpr (IncrementalHeuristic<Heuristic>) heuristic_.expand(values);
  }
  Cost evaluate_successor(const std::int32_t* values, [[maybe_unused]] std::int32_t op) override {
    if constexpr (IncrementalHeuristic<Heuristic>) {
      return heuristic_.evaluate_successor(values, op);
    } else {
      return heuristic_(values);
    }
  }

 private:
  Heuristic heuristic_;
};

struct HeuristicKernels {
  SearchResult (*search)(Algorithm algorithm, const SearchRequest& request, Monitor& monitor);
  // Null for a heuristic that is built for one state: see interface/abstractions.cpp.
  std::unique_ptr<Evaluator> (*make_evaluator)(const Task& task);
};

}  // namespace plumbline
