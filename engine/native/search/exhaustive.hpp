// The truth for small tasks: all states that can be reached from those in a table, and h* of every one of
// them by Dijkstra's algorithm backward over the explicit graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/bucket_queue.hpp"
#include "core/compiled_task.hpp"
#include "core/packed_operators.hpp"
#include "core/state_table.hpp"
#include "search/search.hpp"

namespace plumbline {

// Calls use(position, id) for every successor of a state, inserting new ones.
template <class Use>
void for_each_successor(const CompiledTask& compiled, StateTable<0>& table, StateId id, Use&& use) {
  std::vector<Word> state(table.n_words());
  std::vector<Word> successor(table.n_words());
  table.load(id, state.data());
  compiled.generator.for_each_applicable(state.data(), [&](std::int32_t begin, std::int32_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      compiled.operators.apply(i, state.data(), successor.data());
      use(i, table.insert(successor.data(), table.hash(successor.data())).id);
    }
  });
}

// Adds everything reachable, breadth first.
inline void close_under_successors(const CompiledTask& compiled, StateTable<0>& table, Monitor& monitor) {
  for (StateId id = 0; id < table.size(); ++id) {
    monitor.check_expansions();
    if (id % 64 == 0) monitor.check();
    for_each_successor(compiled, table, id, [&](std::size_t, StateId) { ++monitor.generated; });
    ++monitor.expanded;
  }
}

// h* by id (kInfinity: the goal cannot be reached); the table is closed under successors.
inline std::vector<Cost> optimal_costs(const CompiledTask& compiled, StateTable<0>& table,
                                       std::span<const Fact> goal_facts, Monitor& monitor) {
  struct Edge {
    StateId from;
    std::uint32_t position;
  };
  std::vector<std::size_t> begin(std::size_t{table.size()} + 1);
  for (StateId id = 0; id < table.size(); ++id) {
    if (id % 64 == 0) monitor.check();
    for_each_successor(compiled, table, id, [&](std::size_t, StateId to) { ++begin[to + 1]; });
  }
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  Array<Edge> edges(monitor.account());
  edges.resize(begin.back());
  std::vector<std::size_t> end(begin.begin(), begin.end() - 1);
  for (StateId id = 0; id < table.size(); ++id) {
    if (id % 64 == 0) monitor.check();
    for_each_successor(compiled, table, id, [&](std::size_t position, StateId to) {
      edges[end[to]++] = {id, static_cast<std::uint32_t>(position)};
    });
  }

  const PartialState goal(goal_facts, compiled.packing);
  BucketQueue<Cost, StateId, Ties::kNewestFirst> queue(monitor.account());
  std::vector<Cost> costs(table.size(), kInfinity);
  std::vector<Word> state(table.n_words());
  for (StateId id = 0; id < table.size(); ++id) {
    table.load(id, state.data());
    if (!goal.holds_in(state.data())) continue;
    costs[id] = 0;
    queue.push(0, id);
  }
  while (!queue.empty()) {
    const Cost cost = queue.min_key();
    const StateId id = queue.pop();
    if (cost > costs[id]) continue;
    if (id % 64 == 0) monitor.check();
    for (std::size_t i = begin[id]; i < begin[id + 1]; ++i) {
      const Edge edge = edges[i];
      const Cost through = cost + compiled.costs[edge.position];
      if (through >= costs[edge.from]) continue;
      costs[edge.from] = through;
      queue.push(through, edge.from);
    }
  }
  return costs;
}

}  // namespace plumbline
