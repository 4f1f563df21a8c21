#include "heuristics/hadd.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "search/heuristic_searches.hpp"

namespace plumbline {

namespace {

class HAddUnit : public HAdd {
 public:
  explicit HAddUnit(const Task& task) : HAdd(task, Costs::kUnit) {}
};

}  // namespace

HeuristicKernels hadd_kernels() { return kernels_of<HAdd>(); }
HeuristicKernels hadd_unit_kernels() { return kernels_of<HAddUnit>(); }

}  // namespace plumbline
