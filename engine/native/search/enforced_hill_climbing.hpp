// Enforced hill-climbing (Hoffmann and Nebel 2001) as in Fast Downward, without helpful-action pruning: from
// the current state search in order of accumulated cost for a state with smaller h, then start again from
// there. States seen in earlier phases stay seen. Incomplete: an empty queue proves nothing. Different here:
// a goal state counts as progress even if its h is not smaller (zero-cost actions).
#pragma once

#include <cstddef>

#include "core/bucket_queue.hpp"
#include "search/search.hpp"
#include "search/search_space.hpp"

namespace plumbline {

template <class Heuristic>
SearchResult enforced_hill_climbing(const SearchRequest& request, Heuristic& heuristic, Monitor& monitor) {
  struct Edge {
    StateId from;
    std::size_t position;
  };
  SearchSpace<Heuristic> space(request, heuristic, monitor);
  BucketQueue<Cost, Edge, Ties::kOldestFirst> open(monitor.account());
  SearchResult failed;
  if (request.bound <= 0) return failed;
  StateId current = space.add_start();
  if (space.is_goal(current)) return space.solution(current);
  if (space.node(current).h == kInfinity) return failed;
  monitor.best = space.node(current).h;

  const auto expand = [&](StateId id) {
    monitor.check_expansions();
    monitor.check();
    ++monitor.expanded;
    for (const std::size_t position : space.applicable(id)) {
      const Cost g = space.node(id).g + space.cost(position);
      if (g < request.bound) open.push(g, {id, position});
    }
  };

  expand(current);
  while (!open.empty()) {
    const Edge edge = open.pop();
    const auto successor = space.successor(edge.from, edge.position);
    if (!successor.is_new) continue;
    space.set_path(successor.id, edge.from, edge.position, space.node(edge.from).g + successor.cost);
    if (space.is_goal(successor.id)) return space.solution(successor.id);
    const Cost h = space.evaluate(successor.id);
    if (h == kInfinity) continue;
    if (h < space.node(current).h) {
      current = successor.id;
      monitor.best = h;
      open.clear();
    }
    expand(successor.id);
  }
  return failed;
}

}  // namespace plumbline
