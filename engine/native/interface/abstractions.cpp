// The C interface of the heuristics that are built for one state. As in tasks_and_searches.cpp, Python checks
// sizes and this code checks contents.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "abstractions/cartesian.hpp"
#include "abstractions/merge_and_shrink.hpp"
#include "core/compiled_task.hpp"
#include "core/task.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "interface/checked_input.hpp"
#include "interface/guarded.hpp"
#include "search/search.hpp"

namespace {

using namespace plumbline;

// For the task's own goal without what does not matter to it, as in searches.
template <class Heuristic>
class AbstractionEvaluator final : public Evaluator {
 public:
  template <class Options>
  AbstractionEvaluator(const SearchRequest& request, Monitor& monitor, const Options& options)
      : variables_(request.goal == request.compiled.task.goal ? request.compiled.relevant().variables
                                                              : all_variables(request)),
        values_(variables_.size()),
        heuristic_(projected(request), monitor, options) {}

  void set_goal(std::span<const Fact>) override {}  // it was built for one
  Cost evaluate(const std::int32_t* values) override {
    std::ranges::transform(variables_, values_.begin(), [values](std::int32_t v) { return values[v]; });
    return heuristic_(values_.data());
  }
  void expand(const std::int32_t*) override {}
  Cost evaluate_successor(const std::int32_t* values, std::int32_t) override { return evaluate(values); }

  const Heuristic& heuristic() const { return heuristic_; }

 private:
  static std::vector<std::int32_t> all_variables(const SearchRequest& request) {
    std::vector<std::int32_t> variables(request.start.size());
    for (std::size_t v = 0; v < variables.size(); ++v) variables[v] = static_cast<std::int32_t>(v);
    return variables;
  }

  SearchRequest projected(const SearchRequest& request) const {
    if (request.goal != request.compiled.task.goal) return request;
    const CompiledTask& part = request.compiled.relevant().compiled;
    std::vector<std::int32_t> start;
    for (const std::int32_t v : variables_) start.push_back(request.start[static_cast<std::size_t>(v)]);
    return {part, std::move(start), part.task.goal};
  }

  std::vector<std::int32_t> variables_;
  std::vector<std::int32_t> values_;
  Heuristic heuristic_;
};

// `describe` gets the heuristic if it could be built within the limits; `outcome` says whether.
template <class Heuristic, class Options, class Describe>
Status create(const CompiledTask* task, const std::int32_t* start, std::int32_t n_goals,
              const std::int32_t* goal, const Options& options, const Limits* limits, Progress* progress,
              Outcome* outcome, Evaluator** result, Describe&& describe) {
  return guarded([&] {
    const SearchRequest request{*task, {start, start + task->task.n_variables()}, to_facts(n_goals, goal)};
    if (!in_domains(task->task, start) || !well_formed(task->task, request.goal)) return false;
    Monitor monitor(*limits, progress);
    *outcome = run_limited(monitor, [&] {
      auto evaluator = std::make_unique<AbstractionEvaluator<Heuristic>>(request, monitor, options);
      describe(evaluator->heuristic());
      *result = evaluator.release();
      return Outcome::kSolved;
    });
    return true;
  });
}

}  // namespace

// `size` receives how many abstractions there are, and their states and transitions.
PLUMBLINE_API Status plumbline_cartesian_create(const CompiledTask* task, const std::int32_t* start,
                                                std::int32_t n_goals, const std::int32_t* goal,
                                                std::int64_t max_transitions, std::int32_t landmarks,
                                                std::int32_t goals, const Limits* limits, Progress* progress,
                                                AbstractionSize* size, Outcome* outcome, Evaluator** result) {
  const CartesianOptions options{max_transitions, landmarks != 0, goals != 0};
  return create<Cartesian>(task, start, n_goals, goal, options, limits, progress, outcome, result,
                           [size](const Cartesian& heuristic) {
                             *size = {heuristic.n_abstractions(), heuristic.n_states(),
                                      heuristic.n_transitions()};
                           });
}

// `size` receives 1, and the most states and transitions a product had.
PLUMBLINE_API Status plumbline_merge_and_shrink_create(const CompiledTask* task, const std::int32_t* start,
                                                       std::int32_t n_goals, const std::int32_t* goal,
                                                       std::int64_t max_states, std::int64_t max_transitions,
                                                       const Limits* limits, Progress* progress,
                                                       AbstractionSize* size, Outcome* outcome,
                                                       Evaluator** result) {
  const MergeAndShrinkOptions options{
      std::clamp<std::int64_t>(max_states, 1, MergeAndShrinkOptions::kMostStates),
      std::max<std::int64_t>(max_transitions, 1)};
  return create<MergeAndShrink>(task, start, n_goals, goal, options, limits, progress, outcome, result,
                                [size](const MergeAndShrink& heuristic) {
                                  *size = {1, heuristic.n_states(), heuristic.n_transitions()};
                                });
}
