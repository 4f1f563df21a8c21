// What the look-ahead oracle by itself proves in one state, as engine/oracles/lookahead.py does in a session
// that knows nothing of other states: first steps, runs of the policy after them, and the bounds that follow.
//
// What runs cost is known from elsewhere. Made again are only those that make a difference to the evidence:
// the run of the best plan, and those that tell what the policy does in the states on the way to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/state_store.hpp"
#include "core/task.hpp"
#include "oracles/bounds.hpp"
#include "policies/policy.hpp"
#include "policies/run_graph.hpp"
#include "search/first_steps.hpp"

namespace plumbline {

// What other questions have shown about the policy.
class KnownRuns {
 public:
  enum class Answer : std::uint8_t { kTimeOver, kCost, kTooManySteps };

  virtual ~KnownRuns() = default;
  // The cost of the run from a state, if it is below the bound, else kInfinity. A run with too many steps
  // might be stopped when it is made alone.
  virtual Answer cost(StateStore& states, std::int32_t state, Cost bound, std::int64_t max_steps,
                      const Slice& slice, Cost& cost) = 0;
  // Which of these runs may come to one of the targets.
  virtual std::vector<bool> pass(StateStore& states, std::span<const std::int32_t> runs,
                                 std::span<const std::int32_t> targets) = 0;
};

class LookaheadProof {
 public:
  static constexpr std::int32_t kByLookahead = 2;  // the number of the oracle; see Bounds

  // The policy's run from `state` is taken over, and that from `reference`, if any (-1). The task and the
  // other graph must outlive this object.
  LookaheadProof(const CompiledTask& task, RunGraph& runs, std::int32_t state, std::int32_t reference)
      : store_(task), graph_(store_), steps_(store_), bounds_(store_, &graph_) {
    start_ = graph_.adopt(runs, state);
    if (reference >= 0) graph_.adopt(runs, reference);
    add_run(start_);
    steps_.begin(start_);
  }

  // Looks as many steps ahead for what costs less than the limit. False if the slice is over: the next call
  // continues.
  bool resume(std::size_t depth, Cost limit, std::int64_t max_steps, KernelPolicy& policy, KnownRuns& known,
              const Slice& slice) {
    while (steps_.levels().size() <= depth) {
      if (slice.is_over()) return false;
      steps_.extend();
      const FirstSteps::Level& level = steps_.levels().back();
      if (const std::int64_t row = steps_.goal(); row >= 0) {
        offer(level[static_cast<std::size_t>(row)].cost, static_cast<std::size_t>(row));
      }
      if (steps_.levels().size() > depth) limit_ = std::min(limit, best_);
    }
    const FirstSteps::Level& leaves = steps_.levels().back();
    for (; is_known_ && next_ < leaves.size(); ++next_) {
      Cost cost = kInfinity;
      const auto answer =
          known.cost(store_, leaves[next_].state, bound_of(leaves[next_]), max_steps, slice, cost);
      if (answer == KnownRuns::Answer::kTimeOver) return false;
      is_known_ = answer == KnownRuns::Answer::kCost;
      if (cost != kInfinity) offer_run(next_, cost);
    }
    if (!is_chosen_) choose_rows(known);
    is_chosen_ = true;
    for (; made_ < rows_.size(); ++made_, is_running_ = false) {
      const FirstSteps::Place& leaf = leaves[rows_[made_]];
      if (!is_running_) run_ = {leaf.state, bound_of(leaf)};
      is_running_ = true;
      graph_.run_bounded(run_, max_steps, {}, &policy, slice);
      if (!run_.is_over && run_.steps != max_steps) return false;
      if (run_.answer != kInfinity) offer_run(rows_[made_], run_.answer);
    }
    if (best_ != kInfinity) add_way();
    return true;
  }

  Cost best() const { return best_; }               // the cost of the best plan that was found
  Cost bound() const { return bounds_.u(start_); }  // of the state, which may be lower
  std::int64_t size() const { return store_.size(); }
  std::int64_t asked() const { return graph_.asked(); }

  // The steps that prove the bound.
  std::vector<Bounds::Step> chain() {
    std::vector<Bounds::Step> steps;
    for (std::int32_t state = start_; bounds_.step(state).via != Bounds::kGoal; state = steps.back().next) {
      steps.push_back(bounds_.step(state));
    }
    return steps;
  }

 private:
  Cost bound_of(const FirstSteps::Place& leaf) const {
    return limit_ == kInfinity ? kInfinity : limit_ - leaf.cost;
  }

  bool offer(Cost cost, std::size_t row) {
    if (cost >= best_) return false;
    best_ = cost;
    level_ = steps_.levels().size() - 1;
    row_ = row;
    return true;
  }

  void offer_run(std::size_t row, Cost cost) {
    const FirstSteps::Place& leaf = steps_.levels().back()[row];
    if (offer(leaf.cost + cost, row)) run_begin_ = leaf.state;
  }

  // The runs to make.
  void choose_rows(KnownRuns& known) {
    const FirstSteps::Level& leaves = steps_.levels().back();
    std::vector<bool> is_wanted(leaves.size(), !is_known_);
    if (is_known_ && best_ != kInfinity) {
      std::vector<std::int32_t> starts;
      for (const FirstSteps::Place& leaf : leaves) starts.push_back(leaf.state);
      const std::vector<std::int32_t> way = way_to_best().first;
      is_wanted = known.pass(store_, starts, std::span(way).subspan(1, level_ - 1));
      if (run_begin_ >= 0) is_wanted[row_] = true;
    }
    for (std::size_t row = 0; row < leaves.size(); ++row) {
      if (is_wanted[row]) rows_.push_back(row);
    }
  }

  std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> way_to_best() const {
    std::vector<std::int32_t> states(level_ + 1), operators(level_);
    steps_.way(level_, static_cast<std::int64_t>(row_), states.data(), operators.data());
    return {states, operators};
  }

  void add_run(std::int32_t state) {
    const std::vector<std::int32_t> states = graph_.trace(state);
    std::vector<std::int32_t> operators;
    for (std::size_t k = 0; k + 1 < states.size(); ++k) operators.push_back(graph_[states[k]].decision);
    bounds_.add_path(states, operators, Bounds::kByPolicy, false);
  }

  void add_way() {
    if (run_begin_ >= 0) add_run(run_begin_);
    const auto [states, operators] = way_to_best();
    bounds_.add_path(states, operators, kByLookahead, false);
  }

  StateStore store_;
  RunGraph graph_;
  FirstSteps steps_;
  Bounds bounds_;
  std::int32_t start_ = -1;
  Cost best_ = kInfinity;
  std::size_t level_ = 0;  // where the best plan leaves the first steps
  std::size_t row_ = 0;
  std::int32_t run_begin_ = -1;  // for a run of the policy, -1 where the first steps reach the goal
  Cost limit_ = kInfinity;
  std::size_t next_ = 0;  // of the last level
  bool is_known_ = true;  // what runs cost
  bool is_chosen_ = false;
  std::vector<std::size_t> rows_;  // of the last level: the runs to make
  std::size_t made_ = 0;           // how many of them
  bool is_running_ = false;
  RunGraph::Bounded run_{};
};

}  // namespace plumbline
