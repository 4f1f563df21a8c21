// The graph of a policy's decisions: each state has at most one child and any number of parents. As soon as a
// decision is entered, all states that it gives a result have it: results flow from where runs end to their
// ancestors, and a decision that leads back to its own state closes a loop.
// See docs/theory/definitions.md, "Policies and runs".
//
// Decisions come from a policy of the kernels, or are told: a policy outside is asked by Python about many
// states at once. A provided answer counts as soon as a run needs it, and not before.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "core/state_store.hpp"
#include "core/task.hpp"
#include "policies/policy.hpp"

namespace plumbline {

// In the order of the enumerations in engine/records/finding.py.
enum class RunOutcome : std::uint8_t { kUnknown, kSolved, kFailed };
enum class EndReason : std::uint8_t { kNone, kGoal, kLoop, kNothingToDo, kInapplicable, kPolicyError };

// How long a kernel may work before it returns to its caller.
class Slice {
 public:
  explicit Slice(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  bool is_over() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

class RunGraph {
 public:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::int32_t kUndecided = -3;
  static constexpr std::int32_t kWrong = -4;  // stands for whatever is no answer at all
  static constexpr std::int32_t kUntold = std::numeric_limits<std::int32_t>::min();

  struct Node {
    Cost cost = kInfinity;               // of the run to the goal, where it is solved
    std::int32_t decision = kUndecided;  // an operator, kNoAction or kNoOperation; never a wrong answer
    std::int32_t child = kNone;
    std::int32_t first_parent = kNone;
    std::int32_t next_parent = kNone;  // of its child
    std::int32_t ahead = kNone;        // some state further on: what makes `open_end` fast
    std::int32_t told = kUntold;
    std::int32_t steps = 0;  // of the run to the goal, where it is solved
    RunOutcome outcome = RunOutcome::kUnknown;
    EndReason reason = EndReason::kNone;  // kPolicyError: the run ends here, which proves nothing
    bool is_examined = false;
  };

  // A run with a bound on its cost, and how far it got.
  struct Bounded {
    std::int32_t state;
    Cost bound;
    Cost spent = 0;
    std::int64_t steps = 0;
    Cost answer = kInfinity;  // the whole cost, if that is below the bound
    bool is_over = false;  // otherwise it was stopped by the number of steps, the slice, or a missing answer
  };

  // The store must outlive this object.
  explicit RunGraph(StateStore& store) : store_(store), values_(store.task().domain_sizes.size()) {}

  StateStore& store() { return store_; }
  std::int64_t asked() const { return asked_; }  // how often policies of the kernels were
  std::int64_t inapplicable() const { return inapplicable_; }

  // What is known of a state of the store; its reference is good until the next call.
  const Node& operator[](std::int32_t state) {
    look(state);
    return node(state);
  }

  // Whether a policy has yet to be asked about a state.
  bool is_open(std::int32_t state) { return is_undecided((*this)[state]); }

  // Where a run without a result stands now. Only its start may be a goal that has not been looked at.
  std::int32_t open_end(std::int32_t state) {
    grow();
    while (node(state).ahead != kNone) {
      const std::int32_t next = node(state).ahead;
      if (node(next).ahead != kNone) node(state).ahead = node(next).ahead;
      state = next;
    }
    return state;
  }

  // What a policy outside answers in an open state.
  void tell(std::int32_t state, std::int32_t answer) {
    look(state);
    node(state).told = answer;
  }

  // A policy outside has no answer: runs that come here end without a result.
  void fail(std::int32_t state) {
    look(state);
    node(state).reason = EndReason::kPolicyError;
  }

  // Decides in an open state; false if no answer is known.
  bool decide(std::int32_t state, KernelPolicy* policy) {
    std::int32_t answer = node(state).told;
    if (answer == kUntold) {
      if (policy == nullptr) return false;
      store_.values(1, &state, values_.data());
      answer = policy->decide(values_.data());
      ++asked_;
    }
    enter(state, answer);
    return true;
  }

  // Takes over the run from a state of another graph of the same policy and task, without asking. Its first
  // state here.
  std::int32_t adopt(RunGraph& other, std::int32_t start) {
    const std::vector<std::int32_t>& theirs = other.trace(start);
    const EndReason reason = other.result(theirs.back()).reason;
    trace_.resize(theirs.size());
    for (std::size_t k = 0; k < theirs.size(); ++k) {
      other.store_.values(1, &theirs[k], values_.data());
      store_.add(1, values_.data(), &trace_[k]);
    }
    if (reason == EndReason::kPolicyError) fail(trace_.back());
    for (std::size_t k = 0; k < theirs.size(); ++k) {
      const bool is_wrong = k + 1 == theirs.size() && reason == EndReason::kInapplicable;
      const std::int32_t answer = is_wrong ? kWrong : other.node(theirs[k]).decision;
      if (answer == kUndecided) continue;
      tell(trace_[k], answer);
      if (is_open(trace_[k])) decide(trace_[k], nullptr);
    }
    return trace_.front();
  }

  // Runs that advance together, one decision each at a time.
  struct LockStep {
    std::vector<std::int32_t> active;    // starts without a result
    std::vector<std::int32_t> frontier;  // where they stand, each state once
    std::size_t decided = 0;             // states of the frontier with a decision
    std::int64_t steps = 0;              // decisions along each run that were not known before
  };

  // Continues until every run has a result or the limit of steps (-1: none). False if the slice is over, or
  // if answers are missing, which `missing` receives; the next call continues.
  bool run(LockStep& runs, std::int64_t limit, KernelPolicy* policy, const Slice& slice,
           std::vector<std::int32_t>& missing) {
    missing.clear();
    while (true) {
      for (; runs.decided < runs.frontier.size(); ++runs.decided) {
        if (slice.is_over()) return false;
        decide(runs.frontier[runs.decided], policy);
      }
      if (!runs.frontier.empty()) ++runs.steps;
      runs.frontier.clear();
      runs.decided = 0;
      if (runs.steps == limit) return true;
      take_open_ends(runs);
      if (runs.frontier.empty()) return true;
      if (policy != nullptr) continue;
      std::ranges::copy_if(runs.frontier, std::back_inserter(missing),
                           [this](std::int32_t state) { return node(state).told == kUntold; });
      if (!missing.empty()) {
        runs.frontier.clear();
        return false;
      }
    }
  }

  // Continues a bounded run. It ends with an answer, where it cannot get below its bound, where the policy
  // fails, and in a state whose known bound (by state) is already good enough.
  void run_bounded(Bounded& run, std::int64_t max_steps, std::span<const Cost> known, KernelPolicy* policy,
                   const Slice& slice) {
    run.is_over = run.bound <= 0;
    while (!run.is_over) {
      const Node& here = (*this)[run.state];
      if (here.outcome == RunOutcome::kSolved && here.cost < run.bound - run.spent) {
        run.answer = run.spent + here.cost;
      }
      const auto place = static_cast<std::size_t>(run.state);
      run.is_over =
          here.outcome != RunOutcome::kUnknown || here.reason == EndReason::kPolicyError ||
          (place < known.size() && known[place] != kInfinity && known[place] < run.bound - run.spent);
      if (run.is_over || run.steps == max_steps || slice.is_over()) return;
      if (here.child == kNone && !decide(run.state, policy)) return;
      const Node& decided = node(run.state);
      if (decided.child == kNone) continue;
      run.spent += store_.task().costs[static_cast<std::size_t>(decided.decision)];
      run.state = decided.child;
      ++run.steps;
      run.is_over = run.spent >= run.bound;
    }
  }

  // Which runs from some states come to one of the targets, as far as they have been walked.
  std::vector<bool> pass(std::span<const std::int32_t> starts, std::span<const std::int32_t> targets) {
    grow();
    const std::uint64_t elsewhere = ++round_;
    const std::uint64_t there = ++round_;
    for (const std::int32_t state : targets) seen_in_[static_cast<std::size_t>(state)] = there;
    std::vector<bool> answers;
    for (const std::int32_t start : starts) {
      trace_.clear();
      std::int32_t state = start;
      for (; state != kNone && seen_in_[static_cast<std::size_t>(state)] < elsewhere;
           state = node(state).child) {
        seen_in_[static_cast<std::size_t>(state)] = elsewhere;
        trace_.push_back(state);
      }
      answers.push_back(state != kNone && seen_in_[static_cast<std::size_t>(state)] == there);
      if (!answers.back()) continue;
      for (const std::int32_t passed : trace_) seen_in_[static_cast<std::size_t>(passed)] = there;
    }
    return answers;
  }

  struct Result {
    RunOutcome outcome;
    EndReason reason;
    Cost cost;
  };

  // What is known of the run from a state. Without an outcome: why it ends where it stands, and its cost so
  // far. That the state is a goal tells nothing about other runs before one reaches it.
  Result result(std::int32_t state) {
    grow();
    const Node& start = node(state);
    if (start.outcome != RunOutcome::kUnknown) return {start.outcome, start.reason, start.cost};
    if (!start.is_examined && is_goal(state)) return {RunOutcome::kSolved, EndReason::kGoal, 0};
    Cost spent = 0;
    for (; node(state).child != kNone; state = node(state).child) {
      spent += store_.task().costs[static_cast<std::size_t>(node(state).decision)];
    }
    return {RunOutcome::kUnknown, node(state).reason, spent};
  }

  // The states of the run from a state as far as it has been walked, pairwise different.
  const std::vector<std::int32_t>& trace(std::int32_t state) {
    look(state);
    ++round_;
    trace_.clear();
    for (; state != kNone && mark(state); state = node(state).child) trace_.push_back(state);
    return trace_;
  }

 private:
  Node& node(std::int32_t state) { return nodes_[static_cast<std::size_t>(state)]; }

  static bool is_undecided(const Node& node) {
    return node.outcome == RunOutcome::kUnknown && node.child == kNone && node.reason == EndReason::kNone;
  }

  bool is_goal(std::int32_t state) {
    std::uint8_t answer = 0;
    store_.is_goal(1, &state, &answer);
    return answer != 0;
  }

  bool is_operator(std::int32_t answer) const { return answer >= 0 && answer < store_.task().n_operators(); }

  void grow() {
    const auto size = static_cast<std::size_t>(store_.size());
    if (size <= nodes_.size()) return;
    nodes_.resize(std::max(size, 2 * nodes_.size()));
    seen_in_.resize(nodes_.size(), 0);
  }

  // The goal test comes before any decision: in a goal state a run is over.
  void look(std::int32_t state) {
    grow();
    Node& here = node(state);
    if (here.is_examined) return;
    here.is_examined = true;
    if (!is_goal(state)) return;
    here.outcome = RunOutcome::kSolved;
    here.reason = EndReason::kGoal;
    here.cost = 0;
    pass_back(state);
  }

  // Whether this round sees a state for the first time.
  bool mark(std::int32_t state) {
    std::uint64_t& seen = seen_in_[static_cast<std::size_t>(state)];
    if (seen == round_) return false;
    seen = round_;
    return true;
  }

  // Runs that have a result leave.
  void take_open_ends(LockStep& runs) {
    ++round_;
    std::erase_if(runs.active, [&](std::int32_t state) {
      const std::int32_t end = open_end(state);
      look(end);
      if (node(state).outcome != RunOutcome::kUnknown || !is_undecided(node(end))) return true;
      if (mark(end)) runs.frontier.push_back(end);
      return false;
    });
  }

  void enter(std::int32_t state, std::int32_t answer) {
    if (answer == kNoAction || answer == kNoOperation) {
      node(state).decision = answer;
      return end(state, answer == kNoAction ? EndReason::kNothingToDo : EndReason::kLoop);
    }
    std::int32_t child = kNone;
    if (is_operator(answer)) store_.apply(1, &state, &answer, &child);
    if (child == kNone) {
      ++inapplicable_;
      return end(state, EndReason::kInapplicable);
    }
    look(child);  // a run that reaches the goal with its last step is solved
    Node& here = node(state);
    here.decision = answer;
    here.child = child;
    here.next_parent = node(child).first_parent;
    node(child).first_parent = state;
    if (node(child).outcome != RunOutcome::kUnknown) return pass_back(state, child);
    const std::int32_t last = open_end(child);
    if (last == state) return end(state, EndReason::kLoop);
    here.ahead = last;
  }

  void end(std::int32_t state, EndReason reason) {
    node(state).outcome = RunOutcome::kFailed;
    node(state).reason = reason;
    pass_back(state);
  }

  void pass_back(std::int32_t state, std::int32_t child) {
    inherit(node(state), node(child));
    pass_back(state);
  }

  // Gives the result of a state to all that lead to it.
  void pass_back(std::int32_t state) {
    open_.assign(1, state);
    while (!open_.empty()) {
      const std::int32_t child = open_.back();
      open_.pop_back();
      for (std::int32_t parent = node(child).first_parent; parent != kNone;
           parent = node(parent).next_parent) {
        if (node(parent).outcome != RunOutcome::kUnknown) continue;
        inherit(node(parent), node(child));
        open_.push_back(parent);
      }
    }
  }

  void inherit(Node& parent, const Node& child) const {
    parent.outcome = child.outcome;
    parent.reason = child.reason;
    if (child.outcome == RunOutcome::kSolved) {
      parent.cost = child.cost + store_.task().costs[static_cast<std::size_t>(parent.decision)];
      parent.steps = child.steps + 1;
    }
  }

  StateStore& store_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> seen_in_;  // by state: the last round that saw it
  std::uint64_t round_ = 0;
  std::int64_t asked_ = 0;
  std::int64_t inapplicable_ = 0;
  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> open_;
  std::vector<std::int32_t> trace_;
};

}  // namespace plumbline
