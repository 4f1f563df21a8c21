#include "abstractions/cartesian.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "search/heuristic_searches.hpp"

namespace plumbline {

namespace {

// Built for the state the search starts from.
SearchResult search_with_cartesian(Algorithm algorithm, const SearchRequest& request, Monitor& monitor) {
  const Cartesian heuristic(request, monitor);
  return heuristic_search(algorithm, request, heuristic, monitor);
}

}  // namespace

HeuristicKernels cartesian_kernels() { return {&search_with_cartesian, nullptr}; }

}  // namespace plumbline
