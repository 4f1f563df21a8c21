// One factor of a task for merge-and-shrink (Sievers and Helmert 2021): states, and transitions by groups of
// labels that do the same in it. Everything is exact: a group's labels have the very same transitions.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

struct Transition {
  std::int32_t source;
  std::int32_t target;
  auto operator<=>(const Transition&) const = default;
};

struct LabelGroup {
  std::vector<std::int32_t> labels;  // ascending
  std::vector<Transition> arcs;      // ascending, each once
  Cost cost = 0;                     // of the cheapest label
};

struct TransitionSystem {
  static constexpr std::int32_t kPruned = -1;

  std::int32_t initial = 0;
  std::vector<char> is_goal;       // by state
  std::vector<LabelGroup> groups;  // of the labels that are alive
  std::vector<Cost> distances;     // to the goal, by state
  std::int32_t tree = 0;           // the node of the merge tree that finds the state

  std::int32_t n_states() const { return static_cast<std::int32_t>(is_goal.size()); }
  bool is_solvable() const { return initial != kPruned; }
  bool matters_for_goal() const {
    return std::ranges::any_of(is_goal, [](char goal) { return goal == 0; });
  }
  // Whether labels of the group change nothing and need nothing here.
  bool is_idle(const LabelGroup& group) const {
    return group.arcs.size() == is_goal.size() &&
           std::ranges::all_of(group.arcs, [](Transition arc) { return arc.source == arc.target; });
  }
  std::int64_t n_arcs() const {
    std::int64_t sum = 0;
    for (const LabelGroup& group : groups) sum += static_cast<std::int64_t>(group.arcs.size());
    return sum;
  }

  // States are renamed, kPruned ones go; several may get the same name.
  void rename(std::span<const std::int32_t> name, std::int32_t n_names);
  // Groups with the same transitions become one, groups without labels go.
  void combine_equal_groups();
  void compute_distances(Monitor& monitor);
  // By state the new name: states that cannot be reached from the initial one, or from which no goal can be,
  // are pruned. Needs distances.
  std::vector<std::int32_t> useful_states() const;
};

namespace transition_systems {

inline std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

inline std::uint64_t hash(std::span<const Transition> arcs) {
  std::uint64_t result = arcs.size();
  for (const Transition arc : arcs) {
    const auto both = static_cast<std::uint64_t>(static_cast<std::uint32_t>(arc.source)) << 32 |
                      static_cast<std::uint32_t>(arc.target);
    result = mixed(result ^ both);
  }
  return result;
}

// The arcs of all groups by one of their ends.
struct Neighbors {
  struct Step {
    std::int32_t to;
    std::int32_t group;
  };
  std::vector<std::size_t> begin;
  std::vector<Step> steps;

  Neighbors(const TransitionSystem& system, bool backwards)
      : begin(system.is_goal.size() + 1), steps(static_cast<std::size_t>(system.n_arcs())) {
    const auto from = [backwards](Transition arc) { return index(backwards ? arc.target : arc.source); };
    for (const LabelGroup& group : system.groups) {
      for (const Transition arc : group.arcs) ++begin[from(arc) + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<std::size_t> end(begin.begin(), begin.end() - 1);
    for (std::size_t group = 0; group < system.groups.size(); ++group) {
      for (const Transition arc : system.groups[group].arcs) {
        steps[end[from(arc)]++] = {backwards ? arc.source : arc.target, static_cast<std::int32_t>(group)};
      }
    }
  }

  std::span<const Step> operator[](std::int32_t state) const {
    return {steps.data() + begin[index(state)], begin[index(state) + 1] - begin[index(state)]};
  }
};

}  // namespace transition_systems

inline void TransitionSystem::rename(std::span<const std::int32_t> name, std::int32_t n_names) {
  using transition_systems::index;
  for (LabelGroup& group : groups) {
    std::size_t kept = 0;
    for (const Transition arc : group.arcs) {
      const Transition renamed{name[index(arc.source)], name[index(arc.target)]};
      if (renamed.source != kPruned && renamed.target != kPruned) group.arcs[kept++] = renamed;
    }
    group.arcs.resize(kept);
    if (!std::ranges::is_sorted(group.arcs)) std::ranges::sort(group.arcs);
    group.arcs.erase(std::ranges::unique(group.arcs).begin(), group.arcs.end());
  }
  const std::vector<char> was_goal = std::exchange(is_goal, std::vector<char>(index(n_names)));
  const std::vector<Cost> old = std::exchange(distances, std::vector<Cost>(index(n_names), kInfinity));
  for (std::size_t state = 0; state < was_goal.size(); ++state) {
    if (name[state] == kPruned) continue;
    const std::size_t renamed = index(name[state]);
    is_goal[renamed] = is_goal[renamed] || was_goal[state];
    distances[renamed] = std::min(distances[renamed], old[state]);
  }
  if (initial != kPruned) initial = name[index(initial)];
}

inline void TransitionSystem::combine_equal_groups() {
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  std::vector<LabelGroup> kept;
  for (LabelGroup& group : groups) {
    if (group.labels.empty()) continue;
    const std::uint64_t key = transition_systems::hash(group.arcs);
    const auto [first, last] = known.equal_range(key);
    const auto twin =
        std::find_if(first, last, [&](const auto& entry) { return kept[entry.second].arcs == group.arcs; });
    if (twin == last) {
      known.emplace(key, kept.size());
      kept.push_back(std::move(group));
      continue;
    }
    LabelGroup& same = kept[twin->second];
    same.labels.insert(same.labels.end(), group.labels.begin(), group.labels.end());
    std::ranges::sort(same.labels);
    same.cost = std::min(same.cost, group.cost);
  }
  groups = std::move(kept);
}

inline void TransitionSystem::compute_distances(Monitor& monitor) {
  using transition_systems::index;
  const transition_systems::Neighbors before(*this, true);
  using Entry = std::pair<Cost, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distances.assign(is_goal.size(), kInfinity);
  for (std::int32_t state = 0; state < n_states(); ++state) {
    if (!is_goal[index(state)]) continue;
    distances[index(state)] = 0;
    queue.emplace(0, state);
  }
  while (!queue.empty()) {
    const auto [distance, state] = queue.top();
    queue.pop();
    if (distance > distances[index(state)]) continue;
    monitor.check();
    for (const auto& step : before[state]) {
      const Cost through = distance + groups[index(step.group)].cost;
      if (through >= distances[index(step.to)]) continue;
      distances[index(step.to)] = through;
      queue.emplace(through, step.to);
    }
  }
}

inline std::vector<std::int32_t> TransitionSystem::useful_states() const {
  using transition_systems::index;
  const transition_systems::Neighbors after(*this, false);
  std::vector<char> is_reached(is_goal.size());
  std::vector<std::int32_t> queue;
  if (initial != kPruned) {
    is_reached[index(initial)] = 1;
    queue.push_back(initial);
  }
  while (!queue.empty()) {
    const std::int32_t state = queue.back();
    queue.pop_back();
    for (const auto& step : after[state]) {
      if (!is_reached[index(step.to)]) queue.push_back(step.to);
      is_reached[index(step.to)] = 1;
    }
  }
  std::vector<std::int32_t> name(is_goal.size(), kPruned);
  std::int32_t next = 0;
  for (std::size_t state = 0; state < name.size(); ++state) {
    if (is_reached[state] && distances[state] != kInfinity) name[state] = next++;
  }
  return name;
}

}  // namespace plumbline
