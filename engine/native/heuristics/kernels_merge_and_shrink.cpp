#include "abstractions/merge_and_shrink.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "search/heuristic_searches.hpp"

namespace plumbline {

namespace {

// Built for the state the search starts from.
SearchResult search_with_merge_and_shrink(Algorithm algorithm, const SearchRequest& request,
                                          Monitor& monitor) {
  const MergeAndShrink heuristic(request, monitor);
  return heuristic_search(algorithm, request, heuristic, monitor);
}

}  // namespace

HeuristicKernels merge_and_shrink_kernels() { return {&search_with_merge_and_shrink, nullptr}; }

}  // namespace plumbline
