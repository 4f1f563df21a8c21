#include "hff.hpp"

#include "heuristic_kernels.hpp"
#include "heuristic_searches.hpp"

namespace plumbline {

HeuristicKernels hff_kernels() { return kernels_of<HFF>(); }

}  // namespace plumbline
