#include "heuristics/goal_count.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "search/heuristic_searches.hpp"

namespace plumbline {

HeuristicKernels goal_count_kernels() { return kernels_of<GoalCount>(); }

}  // namespace plumbline
