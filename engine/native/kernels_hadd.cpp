#include "hadd.hpp"

#include "heuristic_kernels.hpp"
#include "heuristic_searches.hpp"

namespace plumbline {

HeuristicKernels hadd_kernels() { return kernels_of<HAdd>(); }

}  // namespace plumbline
