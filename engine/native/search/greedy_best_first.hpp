// Greedy best-first search: always the oldest state with the smallest h; no re-opening. Complete, not
// optimal. A goal is recognized when it is generated.
#pragma once

#include <algorithm>

#include "core/bucket_queue.hpp"
#include "search/search.hpp"
#include "search/search_space.hpp"

namespace plumbline {

template <class Heuristic>
SearchResult greedy_best_first(const SearchRequest& request, Heuristic& heuristic, Monitor& monitor) {
  SearchSpace<Heuristic> space(request, heuristic, monitor);
  BucketQueue<Cost, StateId, Ties::kOldestFirst> open(monitor.account());
  bool pruned = request.bound <= 0;
  const StateId start = space.add_start();
  if (!pruned && space.is_goal(start)) return space.solution(start);
  if (!pruned && space.node(start).h != kInfinity) open.push(space.node(start).h, start);
  monitor.best = space.node(start).h;
  while (!open.empty()) {
    const StateId id = open.pop();
    monitor.check_expansions();
    monitor.check();
    ++monitor.expanded;
    for (const std::size_t position : space.applicable(id)) {
      const Cost g = space.node(id).g + space.cost(position);
      if (g >= request.bound) {
        pruned = true;
        continue;
      }
      const auto successor = space.successor(id, position);
      if (!successor.is_new) continue;
      space.set_path(successor.id, id, position, g);
      if (space.is_goal(successor.id)) return space.solution(successor.id);
      const Cost h = space.evaluate(successor.id);
      if (h == kInfinity) continue;
      monitor.best = std::min(monitor.best, h);
      open.push(h, successor.id);
    }
  }
  SearchResult result;
  // A state may have been pruned although a cheaper path leads to it: with a bound nothing is proved.
  result.outcome = pruned ? Outcome::kFailed : Outcome::kUnsolvable;
  result.lower_bound = pruned ? 0 : kInfinity;
  return result;
}

}  // namespace plumbline
