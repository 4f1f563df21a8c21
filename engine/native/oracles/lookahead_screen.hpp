// Tells where the look-ahead oracle by itself proves nothing: where its first steps reach no goal, and no run
// of the policy after them costs less than would prove a bug. See docs/theory/oracles.md, "Look-ahead".
//
// What is known of the policy serves all later questions. That changes no answer: a finished run says what
// the policy does, whichever question began it, and where a run was stopped, something may be proven. Nor
// does it change an answer to merge states that differ in idle variables only, if the policy overlooks these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/quotient.hpp"
#include "core/state_store.hpp"
#include "core/task.hpp"
#include "policies/policy.hpp"
#include "policies/run_graph.hpp"
#include "search/first_steps.hpp"

namespace plumbline {

class LookaheadScreen {
 public:
  enum class Answer : std::uint8_t { kTimeOver, kNothing, kPerhaps };

  // Both must outlive this object.
  LookaheadScreen(const CompiledTask& task, KernelPolicy& policy)
      : task_(task), policy_(policy), values_(task.task.domain_sizes.size()) {
    if (policy.overlooks_idle_variables()) quotient_.emplace(task);
    forget();
  }

  std::int64_t asked() const { return asked_before_ + known_->graph.asked(); }  // how often the policy was

  // A question about a state of another table of the task: a bug is what costs less than `limit` after so
  // many steps. False if there is no such state.
  bool begin(StateStore& states, std::int32_t state, std::int32_t depth, Cost limit) {
    if (&states.task() != &task_.task || !states.values(1, &state, values_.data())) return false;
    if (known_->store.size() > kMostStates) forget();
    if (quotient_) quotient_->project(values_.data());
    std::int32_t start = -1;
    known_->store.add(1, values_.data(), &start);
    known_->steps.begin(start);
    depth_ = static_cast<std::size_t>(depth);
    limit_ = limit;
    next_ = 0;
    is_running_ = false;
    return true;
  }

  Answer resume(std::int64_t max_steps, const Slice& slice) {
    FirstSteps& steps = known_->steps;
    while (steps.levels().size() <= depth_) {
      if (slice.is_over()) return Answer::kTimeOver;
      steps.extend();
      if (steps.goal() >= 0) return Answer::kPerhaps;
    }
    const FirstSteps::Level& leaves = steps.levels().back();
    for (; next_ < leaves.size(); ++next_, is_running_ = false) {
      const FirstSteps::Place& leaf = leaves[next_];
      if (!is_running_) run_ = {leaf.state, limit_ == kInfinity ? kInfinity : limit_ - leaf.cost};
      is_running_ = true;
      known_->graph.run_bounded(run_, max_steps, {}, &policy_, slice);
      if (run_.answer != kInfinity) return Answer::kPerhaps;
      if (!run_.is_over) return run_.steps == max_steps ? Answer::kPerhaps : Answer::kTimeOver;
    }
    return Answer::kNothing;
  }

 private:
  static constexpr std::int64_t kMostStates = 2'000'000;

  struct Known {
    explicit Known(const CompiledTask& task) : store(task), graph(store), steps(store) {}
    StateStore store;
    RunGraph graph;
    FirstSteps steps;
  };

  void forget() {
    if (known_) asked_before_ += known_->graph.asked();
    known_ = std::make_unique<Known>(quotient_ ? quotient_->compiled() : task_);
  }

  const CompiledTask& task_;
  KernelPolicy& policy_;
  std::optional<Quotient> quotient_;
  std::unique_ptr<Known> known_;
  std::int64_t asked_before_ = 0;
  std::size_t depth_ = 0;
  Cost limit_ = 0;
  std::size_t next_ = 0;  // of the last level
  bool is_running_ = false;
  RunGraph::Bounded run_{};
  std::vector<std::int32_t> values_;
};

}  // namespace plumbline
