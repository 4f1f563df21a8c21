// Instantiates everything for one heuristic; included by the kernels_NAME.cpp only.
#pragma once

#include <memory>
#include <span>

#include "heuristics/heuristic.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "search/aoca_star.hpp"
#include "search/astar.hpp"
#include "search/enforced_hill_climbing.hpp"
#include "search/greedy_best_first.hpp"
#include "search/search.hpp"

namespace plumbline {

template <class Heuristic>
SearchResult heuristic_search(Algorithm algorithm, const SearchRequest& request, Heuristic& heuristic,
                              Monitor& monitor) {
  switch (algorithm) {
    case Algorithm::kGreedyBestFirst:
      return greedy_best_first(request, heuristic, monitor);
    case Algorithm::kEnforcedHillClimbing:
      return enforced_hill_climbing(request, heuristic, monitor);
    case Algorithm::kAocaStar:
      return aoca_star(request, heuristic, monitor);
    default:
      return astar(request, heuristic, monitor);
  }
}

template <class Heuristic>
SearchResult search_with(Algorithm algorithm, const SearchRequest& request, Monitor& monitor) {
  Heuristic heuristic(request.compiled.task);
  if (request.goal != request.compiled.task.goal) heuristic.set_goal(request.goal);
  return heuristic_search(algorithm, request, heuristic, monitor);
}

template <class Heuristic>
class EvaluatorOf final : public Evaluator {
 public:
  explicit EvaluatorOf(const Task& task) : heuristic_(task) {}
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

template <class Heuristic>
std::unique_ptr<Evaluator> make_evaluator_of(const Task& task) {
  return std::make_unique<EvaluatorOf<Heuristic>>(task);
}

template <class Heuristic>
HeuristicKernels kernels_of() {
  return {&search_with<Heuristic>, &make_evaluator_of<Heuristic>};
}

}  // namespace plumbline
