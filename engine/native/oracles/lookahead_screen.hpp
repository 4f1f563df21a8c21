// Tells where the look-ahead oracle by itself proves nothing: where its first steps reach no goal, and no run
// of the policy after them costs less than would prove a bug. Elsewhere it holds the proof. See
// docs/theory/oracles.md, "Look-ahead".
//
// What is known of the policy serves all later questions. That changes no answer: a finished run says what
// the policy does, whichever question began it, and where a run was stopped, something may be proven. Nor
// does it change an answer to merge states that differ in idle variables only, if the policy overlooks these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/quotient.hpp"
#include "core/state_store.hpp"
#include "core/task.hpp"
#include "oracles/lookahead_proof.hpp"
#include "policies/policy.hpp"
#include "policies/run_graph.hpp"
#include "search/first_steps.hpp"

namespace plumbline {

class LookaheadScreen final : private KnownRuns {
 public:
  enum class Verdict : std::uint8_t { kTimeOver, kNothing, kPerhaps };

  // Both must outlive this object.
  LookaheadScreen(const CompiledTask& task, KernelPolicy& policy)
      : task_(task), policy_(policy), values_(task.task.domain_sizes.size()) {
    if (policy.overlooks_idle_variables()) quotient_.emplace(task);
    forget();
  }

  // How often the policy was.
  std::int64_t asked() const {
    return asked_before_ + known_->graph.asked() + (proof_ ? proof_->asked() : 0);
  }

  // A question about a state of another table of the task: a bug is what costs less than `limit` after so
  // many steps. False if there is no such state.
  bool begin(StateStore& states, std::int32_t state, std::int32_t depth, Cost limit) {
    if (&states.task() != &task_.task || !states.has(state)) return false;
    if (known_->store.size() > kMostStates) forget();
    known_->steps.begin(own_id(states, state));
    depth_ = static_cast<std::size_t>(depth);
    limit_ = limit;
    next_ = 0;
    is_running_ = false;
    return true;
  }

  Verdict resume(std::int64_t max_steps, const Slice& slice) {
    FirstSteps& steps = known_->steps;
    while (steps.levels().size() <= depth_) {
      if (slice.is_over()) return Verdict::kTimeOver;
      steps.extend();
      if (steps.goal() >= 0) return Verdict::kPerhaps;
    }
    const FirstSteps::Level& leaves = steps.levels().back();
    for (; next_ < leaves.size(); ++next_, is_running_ = false) {
      const FirstSteps::Place& leaf = leaves[next_];
      if (!is_running_) run_ = {leaf.state, limit_ == kInfinity ? kInfinity : limit_ - leaf.cost};
      is_running_ = true;
      known_->graph.run_bounded(run_, max_steps, {}, &policy_, slice);
      if (run_.answer != kInfinity) return Verdict::kPerhaps;
      if (!run_.is_over) return run_.steps == max_steps ? Verdict::kPerhaps : Verdict::kTimeOver;
    }
    return Verdict::kNothing;
  }

  // Proves what there is to prove in the state of the last question; false if that question was never put.
  bool begin_proof(RunGraph& runs, std::int32_t state, std::int32_t reference) {
    if (depth_ == 0 || &runs.store().task() != &task_.task) return false;
    asked_before_ += proof_ ? proof_->asked() : 0;
    proof_.reset();
    proof_ = std::make_unique<LookaheadProof>(task_, runs, state, reference);
    return true;
  }

  // False if the slice is over.
  bool prove(std::int64_t max_steps, const Slice& slice) {
    return proof_->resume(depth_, limit_, max_steps, policy_, *this, slice);
  }

  LookaheadProof* proof() { return proof_.get(); }  // null: none was begun

 private:
  static constexpr std::int64_t kMostStates = 2'000'000;

  struct Known {
    explicit Known(const CompiledTask& task) : store(task), graph(store), steps(store) {}
    StateStore store;
    RunGraph graph;
    FirstSteps steps;
  };

  Answer cost(StateStore& states, std::int32_t state, Cost bound, std::int64_t max_steps, const Slice& slice,
              Cost& cost) override {
    RunGraph::Bounded run{own_id(states, state), bound};
    known_->graph.run_bounded(run, max_steps, {}, &policy_, slice);
    if (!run.is_over) return run.steps == max_steps ? Answer::kTooManySteps : Answer::kTimeOver;
    if (run.answer != kInfinity && max_steps >= 0 && run.steps + known_->graph[run.state].steps > max_steps) {
      return Answer::kTooManySteps;
    }
    cost = run.answer;
    return Answer::kCost;
  }

  std::vector<bool> pass(StateStore& states, std::span<const std::int32_t> runs,
                         std::span<const std::int32_t> targets) override {
    std::vector<std::int32_t> starts, ends;
    for (const std::int32_t state : runs) starts.push_back(own_id(states, state));
    for (const std::int32_t state : targets) ends.push_back(own_id(states, state));
    return known_->graph.pass(starts, ends);
  }

  // Of a state of another table.
  std::int32_t own_id(StateStore& states, std::int32_t state) {
    std::int32_t own = -1;
    states.values(1, &state, values_.data());
    if (quotient_) quotient_->project(values_.data());
    known_->store.add(1, values_.data(), &own);
    return own;
  }

  void forget() {
    if (known_) asked_before_ += known_->graph.asked();
    known_ = std::make_unique<Known>(quotient_ ? quotient_->compiled() : task_);
  }

  const CompiledTask& task_;
  KernelPolicy& policy_;
  std::optional<Quotient> quotient_;
  std::unique_ptr<Known> known_;
  std::unique_ptr<LookaheadProof> proof_;
  std::int64_t asked_before_ = 0;
  std::size_t depth_ = 0;
  Cost limit_ = 0;
  std::size_t next_ = 0;  // of the last level
  bool is_running_ = false;
  RunGraph::Bounded run_{};
  std::vector<std::int32_t> values_;
};

}  // namespace plumbline
