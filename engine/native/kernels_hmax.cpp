#include "hmax.hpp"

#include "heuristic_kernels.hpp"
#include "heuristic_searches.hpp"

namespace plumbline {

HeuristicKernels hmax_kernels() { return kernels_of<HMax>(); }

}  // namespace plumbline
