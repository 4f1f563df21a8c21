#include "heuristics/heuristic_kernels.hpp"
#include "heuristics/hff.hpp"
#include "search/heuristic_searches.hpp"

namespace plumbline {

HeuristicKernels hff_kernels() { return kernels_of<HFF>(); }

}  // namespace plumbline
