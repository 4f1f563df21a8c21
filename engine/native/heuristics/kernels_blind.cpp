#include "heuristics/blind.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "search/blind_search.hpp"
#include "search/heuristic_searches.hpp"

namespace plumbline {

namespace {

SearchResult search_blindly(Algorithm algorithm, const SearchRequest& request, Monitor& monitor) {
  if (algorithm == Algorithm::kAstar) return blind_search(request, monitor);
  return search_with<Blind>(algorithm, request, monitor);
}

}  // namespace

HeuristicKernels blind_kernels() { return {&search_blindly, &make_evaluator_of<Blind>}; }

}  // namespace plumbline
