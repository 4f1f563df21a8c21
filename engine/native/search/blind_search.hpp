// A* with the blind heuristic (the cheapest operator's cost outside the goal, 0 inside) made as fast as it
// gets. If all operators cost the same it is breadth-first search: ids are given in the order of generation,
// so the table itself is the queue and no g is stored. Otherwise it is Dijkstra's algorithm with one bucket
// per cost (Dial 1969). A record holds no operator: the few on the plan are found again at the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/bucket_queue.hpp"
#include "core/compiled_task.hpp"
#include "core/cyclic_buckets.hpp"
#include "core/state_table.hpp"
#include "core/successor_batch.hpp"
#include "search/search.hpp"

namespace plumbline {

// The plan through parent pointers; for each step the cheapest operator that does it.
template <class Table>
SearchResult plan_through_parents(const CompiledTask& compiled, const Table& table, StateId goal) {
  SearchResult result;
  result.outcome = Outcome::kSolved;
  result.cost = 0;
  std::vector<Word> parent(table.n_words());
  std::vector<Word> child(table.n_words());
  std::vector<Word> successor(table.n_words());
  for (StateId id = goal; table.payload(id).parent != kNoState; id = table.payload(id).parent) {
    table.load(id, child.data());
    table.load(table.payload(id).parent, parent.data());
    std::size_t best = compiled.costs.size();
    compiled.generator.for_each_applicable(parent.data(), [&](std::int32_t begin, std::int32_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        compiled.operators.apply(i, parent.data(), successor.data());
        if (successor == child && (best == compiled.costs.size() || compiled.costs[i] < compiled.costs[best]))
          best = i;
      }
    });
    result.plan.push_back(compiled.generator.order()[best]);
    result.cost += compiled.costs[best];
  }
  std::reverse(result.plan.begin(), result.plan.end());
  result.lower_bound = result.cost;
  return result;
}

inline SearchResult exhausted(bool pruned, Cost bound) {
  SearchResult result;
  result.outcome = pruned ? Outcome::kNoCheaperPlan : Outcome::kUnsolvable;
  result.lower_bound = pruned ? bound : kInfinity;
  return result;
}

struct BreadthFirstNode {
  StateId parent = kNoState;
};

// All operators cost `step`.
template <int kWords>
SearchResult breadth_first(const SearchRequest& request, Cost step, Monitor& monitor) {
  const CompiledTask& compiled = request.compiled;
  StateTable<kWords, BreadthFirstNode> table(compiled.packing.n_words(), monitor.account());
  SuccessorBatch<kWords> batch(compiled);
  const PartialState goal(request.goal, compiled.packing);
  std::vector<Word> start(table.n_words());
  compiled.pack(request.start.data(), start.data());
  if (request.bound <= 0) return exhausted(true, request.bound);
  table.insert(start.data(), table.hash(start.data()));
  monitor.evaluated = 1;
  if (goal.holds_in(start.data())) return plan_through_parents(compiled, table, 0);

  Cost g = 0;  // of the layer [next, layer_end)
  for (StateId next = 0, layer_end = 1; next < table.size();) {
    if (next == layer_end) {
      g += step;
      layer_end = table.size();
    }
    monitor.best = g + step;
    if (monitor.best >= request.bound) return exhausted(true, request.bound);
    monitor.check();
    batch.clear();
    while (next < layer_end && !batch.is_full()) {
      monitor.check_expansions();
      batch.add_successors_of(next++, table);
      ++monitor.expanded;
    }
    batch.prefetch_records(table);
    monitor.generated += static_cast<std::int64_t>(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto inserted = table.insert(batch.words(i), batch.hash(i));
      if (!inserted.is_new) continue;
      table.payload(inserted.id).parent = batch.parent(i);
      if (goal.holds_in(batch.words(i))) {
        monitor.evaluated = table.size();
        return plan_through_parents(compiled, table, inserted.id);
      }
    }
    monitor.evaluated = table.size();
  }
  return exhausted(false, request.bound);
}

// A path cost left the range of the narrow record; the search is to be done again with the wide one.
struct PathCostTooWide {};

template <class PathCost>
struct UniformCostNode {
  StateId parent = kNoState;
  PathCost g = std::numeric_limits<PathCost>::max();
};

// `PathCost` is the type g is stored in, `Queue` has push(g, id), empty(), min_key(), has(g) and pop().
template <int kWords, class PathCost, class Queue>
SearchResult uniform_cost(const SearchRequest& request, Queue& open, Monitor& monitor) {
  constexpr Cost kWidest =
      static_cast<Cost>(std::min<std::uint64_t>(std::numeric_limits<PathCost>::max(), kInfinity)) - 1;
  const CompiledTask& compiled = request.compiled;
  StateTable<kWords, UniformCostNode<PathCost>> table(compiled.packing.n_words(), monitor.account());
  SuccessorBatch<kWords> batch(compiled);
  const PartialState goal(request.goal, compiled.packing);
  const Cost cheapest = *std::min_element(compiled.costs.begin(), compiled.costs.end());
  Cost limit = request.bound;  // of f: the bound, later the cost of the best plan found
  StateId best_goal = kNoState;
  bool pruned = false;

  const auto reach = [&](const Word* words, std::uint64_t hash, Cost g, StateId parent) {
    const bool is_goal = goal.holds_in(words);
    if (g + (is_goal ? 0 : cheapest) >= limit) {
      pruned = true;
      return;
    }
    if (g > kWidest) throw PathCostTooWide{};
    const auto inserted = table.insert(words, hash);
    auto& node = table.payload(inserted.id);
    if (g >= static_cast<Cost>(node.g)) return;
    node.g = static_cast<PathCost>(g);
    node.parent = parent;
    if (is_goal) {
      limit = g;
      best_goal = inserted.id;
    } else {
      open.push(g, inserted.id);
    }
  };

  std::vector<Word> start(table.n_words());
  compiled.pack(request.start.data(), start.data());
  reach(start.data(), table.hash(start.data()), 0, kNoState);
  std::vector<StateId> popped;
  while (!open.empty()) {
    const Cost g = open.min_key();
    monitor.best = std::min(g + cheapest, limit);
    if (g + cheapest >= limit) break;
    monitor.check();
    popped.clear();
    while (popped.size() < 8 && open.has(g)) {
      popped.push_back(open.pop());
      table.prefetch(popped.back());
    }
    batch.clear();
    for (const StateId id : popped) {
      if (static_cast<Cost>(table.payload(id).g) != g) continue;  // a cheaper path came later
      monitor.check_expansions();
      batch.add_successors_of(id, table);
      ++monitor.expanded;
    }
    batch.prefetch_records(table);
    monitor.generated += static_cast<std::int64_t>(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      reach(batch.words(i), batch.hash(i), g + compiled.costs[batch.position(i)], batch.parent(i));
    }
    monitor.evaluated = table.size();
  }
  if (best_goal != kNoState) return plan_through_parents(compiled, table, best_goal);
  return exhausted(pruned, request.bound);
}

template <int kWords>
SearchResult uniform_cost(const SearchRequest& request, Cost highest_cost, Monitor& monitor) {
  if (highest_cost < CyclicBuckets::kMostBuckets) {
    try {
      CyclicBuckets open(highest_cost, monitor.account());
      return uniform_cost<kWords, std::uint32_t>(request, open, monitor);
    } catch (const PathCostTooWide&) {
      monitor.start_again();
    }
  }
  BucketQueue<Cost, StateId, Ties::kNewestFirst> open(monitor.account());
  return uniform_cost<0, Cost>(request, open, monitor);
}

template <int kWords>
SearchResult blind_search(const SearchRequest& request, Monitor& monitor) {
  const auto& costs = request.compiled.costs;
  if (costs.empty()) return breadth_first<kWords>(request, 0, monitor);
  const auto [cheapest, highest_cost] = std::minmax_element(costs.begin(), costs.end());
  if (*cheapest == *highest_cost) return breadth_first<kWords>(request, *cheapest, monitor);
  return uniform_cost<kWords>(request, *highest_cost, monitor);
}

inline SearchResult blind_search(const SearchRequest& request, Monitor& monitor) {
  switch (request.compiled.packing.n_words()) {
    case 1:
      return blind_search<1>(request, monitor);
    case 2:
      return blind_search<2>(request, monitor);
    case 3:
      return blind_search<3>(request, monitor);
    case 4:
      return blind_search<4>(request, monitor);
    default:
      return blind_search<0>(request, monitor);
  }
}

}  // namespace plumbline
