#include "goal_count.hpp"

#include "heuristic_kernels.hpp"
#include "heuristic_searches.hpp"

namespace plumbline {

HeuristicKernels goal_count_kernels() { return kernels_of<GoalCount>(); }

}  // namespace plumbline
