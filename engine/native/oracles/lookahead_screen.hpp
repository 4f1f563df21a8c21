// Tells where the look-ahead oracle by itself proves nothing: where its first steps reach no goal, and no run
// of the policy after them costs less than would prove a bug. See docs/theory/oracles.md, "Look-ahead".
//
// What is known of the policy serves all later questions. That changes no answer: a run that is over says
// what the policy does, whoever walked it, and where one was stopped, something may be proven.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/task.hpp"
#include "policies/policy.hpp"
#include "policies/run_graph.hpp"
#include "search/first_steps.hpp"

namespace plumbline {

class LookaheadScreen {
 public:
  enum class Answer : std::uint8_t { kTimeOver, kNothing, kPerhaps };

  // Both must outlive this object.
  LookaheadScreen(RunGraph& graph, KernelPolicy& policy)
      : graph_(graph), policy_(policy), steps_(graph.store()) {}

  RunGraph& graph() { return graph_; }

  // A bug is what costs less than `limit` after so many steps.
  void begin(std::int32_t start, std::int32_t depth, Cost limit) {
    steps_.begin(start);
    depth_ = static_cast<std::size_t>(depth);
    limit_ = limit;
    next_ = 0;
    is_running_ = false;
  }

  Answer resume(std::int64_t max_steps, const Slice& slice) {
    while (steps_.levels().size() <= depth_) {
      if (slice.is_over()) return Answer::kTimeOver;
      steps_.extend();
      if (steps_.goal() >= 0) return Answer::kPerhaps;
    }
    const FirstSteps::Level& leaves = steps_.levels().back();
    for (; next_ < leaves.size(); ++next_, is_running_ = false) {
      const FirstSteps::Place& leaf = leaves[next_];
      if (!is_running_) run_ = {leaf.state, limit_ == kInfinity ? kInfinity : limit_ - leaf.cost};
      is_running_ = true;
      graph_.run_bounded(run_, max_steps, {}, &policy_, slice);
      if (run_.answer != kInfinity) return Answer::kPerhaps;
      if (!run_.is_over) return run_.steps == max_steps ? Answer::kPerhaps : Answer::kTimeOver;
    }
    return Answer::kNothing;
  }

 private:
  RunGraph& graph_;
  KernelPolicy& policy_;
  FirstSteps steps_;
  std::size_t depth_ = 0;
  Cost limit_ = 0;
  std::size_t next_ = 0;  // of the last level
  bool is_running_ = false;
  RunGraph::Bounded run_{};
};

}  // namespace plumbline
