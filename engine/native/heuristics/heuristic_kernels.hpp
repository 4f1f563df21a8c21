// What the interface needs of a heuristic: searches with it, and its value in many states. Each heuristic is
// compiled in its own translation unit (kernels_NAME.cpp), so that they are built side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

enum class Algorithm : std::int32_t {
  kAstar = 0,
  kGreedyBestFirst = 1,
  kEnforcedHillClimbing = 2,
  kAocaStar = 3,
};

// A heuristic behind a virtual call: for evaluation outside of searches.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void set_goal(std::span<const Fact> goal) = 0;
  virtual Cost evaluate(const std::int32_t* values) = 0;
  // The successors of one state as a search evaluates them: first the state, then each with its operator.
  virtual void expand(const std::int32_t* values) = 0;
  virtual Cost evaluate_successor(const std::int32_t* values, std::int32_t op) = 0;
};

struct HeuristicKernels {
  SearchResult (*search)(Algorithm algorithm, const SearchRequest& request, Monitor& monitor);
  // Null for a heuristic that is built for one state: see abstraction_interface.cpp.
  std::unique_ptr<Evaluator> (*make_evaluator)(const Task& task);
};

HeuristicKernels blind_kernels();
HeuristicKernels goal_count_kernels();
HeuristicKernels hmax_kernels();
HeuristicKernels hadd_kernels();
HeuristicKernels hff_kernels();
HeuristicKernels lmcut_kernels();
HeuristicKernels hadd_unit_kernels();
HeuristicKernels lmcut_base_kernels();
HeuristicKernels lmcut_gzbd_kernels();
HeuristicKernels lmcut_delay_open_kernels();
HeuristicKernels lmcut_fglobal_kernels();
HeuristicKernels cartesian_kernels();
HeuristicKernels merge_and_shrink_kernels();

}  // namespace plumbline
