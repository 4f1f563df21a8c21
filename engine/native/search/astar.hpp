// A* with re-opening (Hart, Nilsson and Raphael 1968): optimal with every admissible heuristic, consistent or
// not. Order: smallest f, then smallest h, then newest. The largest f expanded so far is a lower bound of the
// plan cost. With an inadmissible heuristic it still finds a plan below the bound whenever there is one, but
// f proves nothing.
#pragma once

#include <algorithm>
#include <utility>

#include "core/bucket_queue.hpp"
#include "search/search.hpp"
#include "search/search_space.hpp"

namespace plumbline {

template <class Heuristic>
SearchResult astar(const SearchRequest& request, Heuristic& heuristic, Monitor& monitor) {
  SearchSpace<Heuristic> space(request, heuristic, monitor);
  BucketQueue<std::pair<Cost, Cost>, StateId, Ties::kNewestFirst> open(monitor.account());
  bool pruned = false;
  const auto push = [&](StateId id) {
    const Cost h = space.node(id).h;
    const Cost f = saturating_add(space.node(id).g, h);
    if ((request.is_admissible ? f : space.node(id).g) < request.bound) {
      open.push({f, h}, id);
    } else {
      pruned = true;
    }
  };

  const StateId start = space.add_start();
  if (space.node(start).h != kInfinity) push(start);
  while (!open.empty()) {
    monitor.best = std::max(monitor.best, open.min_key().first);
    const StateId id = open.pop();
    // A cheaper path gives a smaller f, so the first entry of a node that comes is its newest.
    if (space.node(id).is_closed) continue;
    space.node(id).is_closed = 1;
    if (space.is_goal(id)) {
      SearchResult result = space.solution(id);
      result.lower_bound = request.is_admissible ? result.cost : 0;
      return result;
    }
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
      if (successor.is_new && space.evaluate_successor(id, position, successor.id) == kInfinity) continue;
      if (space.node(successor.id).h == kInfinity || g >= space.node(successor.id).g) continue;
      space.set_path(successor.id, id, position, g);
      space.node(successor.id).is_closed = 0;
      push(successor.id);
    }
  }
  SearchResult result;
  result.outcome = pruned ? Outcome::kNoCheaperPlan : Outcome::kUnsolvable;
  result.lower_bound = pruned ? request.bound : kInfinity;
  return result;
}

}  // namespace plumbline
