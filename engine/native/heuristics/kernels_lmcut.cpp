#include <memory>

#include "heuristics/heuristic_kernels.hpp"
#include "heuristics/lmcut.hpp"
#include "search/heuristic_searches.hpp"

namespace plumbline {

namespace {

// The rule is known at run time only, so that all rules share one instance of each search.
template <LmCutRule kRule>
SearchResult search_with_rule(Algorithm algorithm, const SearchRequest& request, Monitor& monitor) {
  LmCut heuristic(request.compiled.task, kRule);
  if (request.goal != request.compiled.task.goal) heuristic.set_goal(request.goal);
  return heuristic_search(algorithm, request, heuristic, monitor);
}

template <LmCutRule kRule>
class LmCutWithRule : public LmCut {
 public:
  explicit LmCutWithRule(const Task& task) : LmCut(task, kRule) {}
};

template <LmCutRule kRule>
HeuristicKernels kernels_with_rule() {
  return {&search_with_rule<kRule>, &make_evaluator_of<LmCutWithRule<kRule>>};
}

}  // namespace

HeuristicKernels lmcut_kernels() { return kernels_of<LmCut>(); }
HeuristicKernels lmcut_base_kernels() { return kernels_with_rule<LmCutRule::kBase>(); }
HeuristicKernels lmcut_gzbd_kernels() { return kernels_with_rule<LmCutRule::kGzbd>(); }
HeuristicKernels lmcut_delay_open_kernels() { return kernels_with_rule<LmCutRule::kDelayOpen>(); }
HeuristicKernels lmcut_fglobal_kernels() { return kernels_with_rule<LmCutRule::kFGlobal>(); }

}  // namespace plumbline
