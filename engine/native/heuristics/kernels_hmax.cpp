#include "heuristics/heuristic_kernels.hpp"
#include "heuristics/hmax.hpp"
#include "search/heuristic_searches.hpp"

namespace plumbline {

HeuristicKernels hmax_kernels() { return kernels_of<HMax>(); }

}  // namespace plumbline
