// Every search with one heuristic. A new search algorithm is a header and a case here.
#pragma once

#include <concepts>
#include <memory>

#include "heuristics/blind.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "interface/abi.hpp"
#include "search/aoca_star.hpp"
#include "search/astar.hpp"
#include "search/blind_search.hpp"
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
      if constexpr (std::same_as<Heuristic, Blind>) {
        return blind_search(request, monitor);  // A* with this heuristic, but faster
      } else {
        return astar(request, heuristic, monitor);
      }
  }
}

// A heuristic that is built for the state a search starts from.
template <class H>
concept BuiltForState = std::constructible_from<H, const SearchRequest&, Monitor&>;

template <class Heuristic, auto... kArguments>
SearchResult search_with(Algorithm algorithm, const SearchRequest& request, Monitor& monitor) {
  if constexpr (BuiltForState<Heuristic>) {
    const Heuristic heuristic(request, monitor);
    return heuristic_search(algorithm, request, heuristic, monitor);
  } else {
    Heuristic heuristic(request.compiled.task, kArguments...);
    if (request.goal != request.compiled.task.goal) heuristic.set_goal(request.goal);
    return heuristic_search(algorithm, request, heuristic, monitor);
  }
}

template <class Heuristic, auto... kArguments>
std::unique_ptr<Evaluator> make_evaluator(const Task& task) {
  return std::make_unique<EvaluatorOf<Heuristic>>(task, kArguments...);
}

// The arguments are known at run time only, so that variants of a heuristic share one instance of each
// search.
template <class Heuristic, auto... kArguments>
HeuristicKernels kernels_of() {
  if constexpr (BuiltForState<Heuristic>) {
    return {&search_with<Heuristic>, nullptr};
  } else {
    return {&search_with<Heuristic, kArguments...>, &make_evaluator<Heuristic, kArguments...>};
  }
}

}  // namespace plumbline
