#include "lmcut.hpp"

#include "heuristic_kernels.hpp"
#include "heuristic_searches.hpp"

namespace plumbline {

HeuristicKernels lmcut_kernels() { return kernels_of<LmCut>(); }

}  // namespace plumbline
