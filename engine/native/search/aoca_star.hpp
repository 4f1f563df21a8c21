// AOCA*: does an optimal plan start with this action? (Eisenhut, Fišer, Ruml and Hoffmann 2025, "Is This a
// Good Decision? Action Optimality Checking in Classical Planning", section 5). See
// docs/theory/localization.md, "AOCA*".
//
// A* from the state before the action, with a second start node behind it. A node is tagged if the cheapest
// path known to it starts with the action; of equal f tagged nodes come first, and a path that costs the same
// but gives a tag counts as better, even for closed nodes. The tag of the first goal node expanded is the
// answer; once all open nodes agree, so will that one. Works with inconsistent heuristics.
//
// Beyond the paper: nodes that no optimal plan can visit, since their f is above the cost of a plan that is
// known or has been generated, do not count as open. Open nodes can only agree on something if there is a
// plan at all; until that is known, they are not asked. Remaining ties: newest first, as in A*.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <tuple>

#include "core/bucket_queue.hpp"
#include "search/search.hpp"
#include "search/search_space.hpp"

namespace plumbline {

template <class Heuristic>
class AocaStar {
 public:
  AocaStar(const SearchRequest& request, Heuristic& heuristic, Monitor& monitor)
      : question_(request.action.value()),
        space_(request, heuristic, monitor),
        monitor_(monitor),
        queue_(monitor.account()),
        is_solvable_(question_.is_solvable || question_.plan_cost != kInfinity),
        plan_cost_(question_.plan_cost) {
    const StateId start = space_.add(request.start);
    if (space_.node(start).h == kInfinity) return;
    const StateId successor = space_.add(question_.successor);
    if (successor == start) {
      open(start, 0, question_.cost == 0);  // all plans can start with it, or none
    } else {
      open(start, 0, false);
      if (space_.node(successor).h != kInfinity) open(successor, question_.cost, true);
    }
  }

  SearchResult run() {
    while (true) {
      if (const std::optional<SearchResult> answer = step()) return *answer;
    }
  }

  // Looks whether the open nodes agree, and expands one if they do not.
  std::optional<SearchResult> step() {
    if (n_open_[false] + n_open_[true] == 0) return without_plan();
    if (is_solvable_ && n_open_[false] == 0) return agreed(Outcome::kActionOptimal);
    if (is_solvable_ && n_open_[true] == 0) return agreed(Outcome::kActionNotOptimal);
    monitor_.best = std::max(monitor_.best, std::get<0>(queue_.min_key()));
    const StateId id = queue_.pop();
    // A better path or tag gives a smaller key, so the first entry of a node that comes is its newest.
    if (space_.node(id).is_closed) return std::nullopt;
    space_.node(id).is_closed = 1;
    --n_open_[space_.node(id).is_tagged];
    if (space_.is_goal(id)) return plan_to(id);
    expand(id);
    return std::nullopt;
  }

  // For tests: whether the counters say what the nodes say.
  bool counters_hold() { return n_open_ == counted(); }

 private:
  using Key = std::tuple<Cost, bool, Cost>;    // f, untagged, h
  using Counts = std::array<std::int64_t, 2>;  // by tag

  static Cost f(const SearchNode& node) { return saturating_add(node.g, node.h); }

  bool is_open(const SearchNode& node) const {
    return node.g != kInfinity && node.is_closed == 0 && f(node) <= plan_cost_;
  }

  void expand(StateId id) {
    monitor_.check_expansions();
    monitor_.check();
    ++monitor_.expanded;
    const bool tag = space_.node(id).is_tagged;
    for (const std::size_t position : space_.applicable(id)) {
      const Cost g = space_.node(id).g + space_.cost(position);
      if (g > plan_cost_) continue;
      const auto successor = space_.successor(id, position);
      if (successor.is_new) space_.evaluate_successor(id, position, successor.id);
      const SearchNode& known = space_.node(successor.id);
      if (known.h == kInfinity) continue;
      if (g > known.g || (g == known.g && (known.is_tagged || !tag))) continue;
      open(successor.id, g, tag);
      space_.set_path(successor.id, id, position, g);
    }
  }

  // With a better path than before; not if no optimal plan can come this way.
  void open(StateId id, Cost g, bool tag) {
    SearchNode& node = space_.node(id);
    if (is_open(node)) --n_open_[node.is_tagged];
    node.is_closed = 1;
    node.g = g;
    node.is_tagged = tag;
    if (node.h == 0 && space_.is_goal(id)) found_plan(id, g);
    if (f(node) > plan_cost_) return;
    node.is_closed = 0;
    ++n_open_[tag];
    queue_.push({f(node), !tag, node.h}, id);
  }

  // There is a plan of this cost. Seldom cheaper than the last one, so that counting again costs little.
  void found_plan(StateId goal, Cost cost) {
    is_solvable_ = true;
    if (cost > plan_cost_) return;
    goal_ = goal;
    if (cost == plan_cost_) return;
    plan_cost_ = cost;
    n_open_ = counted();
  }

  Counts counted() {
    Counts counts{};
    for (StateId id = 0; id < space_.size(); ++id) {
      if (is_open(space_.node(id))) ++counts[space_.node(id).is_tagged];
    }
    return counts;
  }

  SearchResult plan_to(StateId goal) {
    const SearchNode node = space_.node(goal);
    SearchResult result = space_.solution(goal);  // behind the action if the goal is tagged
    result.outcome = node.is_tagged ? Outcome::kActionOptimal : Outcome::kActionNotOptimal;
    result.cost = result.lower_bound = node.g;
    return result;
  }

  // With a plan if one of the cost that all open nodes promise at least has been generated.
  SearchResult agreed(Outcome outcome) {
    monitor_.best = std::max(monitor_.best, std::get<0>(queue_.min_key()));
    const bool tag = outcome == Outcome::kActionOptimal;
    if (goal_ != kNoState && monitor_.best == plan_cost_ && space_.node(goal_).is_tagged == tag) {
      return plan_to(goal_);
    }
    SearchResult result;
    result.outcome = outcome;
    result.lower_bound = monitor_.best;
    return result;
  }

  static SearchResult without_plan() {
    SearchResult result;
    result.outcome = Outcome::kUnsolvable;
    result.lower_bound = kInfinity;
    return result;
  }

  const ActionQuestion& question_;
  SearchSpace<Heuristic> space_;
  Monitor& monitor_;
  BucketQueue<Key, StateId, Ties::kNewestFirst> queue_;
  Counts n_open_{};
  bool is_solvable_;
  Cost plan_cost_;           // of the cheapest plan known
  StateId goal_ = kNoState;  // where such a plan leads, if it was generated here
};

template <class Heuristic>
SearchResult aoca_star(const SearchRequest& request, Heuristic& heuristic, Monitor& monitor) {
  return AocaStar<Heuristic>(request, heuristic, monitor).run();
}

}  // namespace plumbline
