// Merge-and-shrink (Helmert, Haslum, Hoffmann and Nissim 2014, "Merge-and-Shrink Abstraction") with SCC-DFP
// merging, bisimulation shrinking and exact label reduction: two factors at a time become one, after each was
// made small enough. See docs/theory/searches.md, "Merge-and-shrink".
//
// Built for one state: states that cannot be reached from it are pruned, so that values are admissible and
// consistent where that leads, and mean nothing elsewhere. Without a limit they are exact. A product with too
// many transitions is not built: its factors are shrunk further until it is small enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "abstractions/bisimulation.hpp"
#include "abstractions/factored_task.hpp"
#include "abstractions/label_reduction.hpp"
#include "abstractions/merge_tree.hpp"
#include "abstractions/scc_dfp.hpp"
#include "abstractions/transition_system.hpp"
#include "core/memory.hpp"
#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

struct MergeAndShrinkOptions {
  static constexpr std::int64_t kMostStates = std::int64_t{1} << 28;  // pairs of states have 32-bit numbers

  std::int64_t max_states = 50'000;           // of every factor, at all times
  std::int64_t max_transitions = 10'000'000;  // of a product before it is pruned
};

class MergeAndShrink {
 public:
  MergeAndShrink(const SearchRequest& request, Monitor& monitor, const MergeAndShrinkOptions& options = {})
      : options_(options) {
    FactoredTask task(request, monitor);
    SccDfp strategy(request.compiled.task);
    TemporaryCharge charge(monitor.account());
    while (task.is_solvable() && task.active().size() > 1) {
      const auto pair = strategy.next(task, monitor);
      reduce_labels(task, monitor);
      const std::int64_t n_arcs = shrink(task, pair, monitor);
      charge.set(task.bytes() + static_cast<std::size_t>(n_arcs) * kBytesPerArc);
      const std::int32_t product = task.merge(pair.first, pair.second, monitor);
      strategy.merged(pair, product);
      n_states_ = std::max<std::int64_t>(n_states_, task.system(product).n_states());
      n_transitions_ = std::max(n_transitions_, task.system(product).n_arcs());
      charge.set(task.bytes());
    }
    is_dead_end_ = !task.is_solvable();
    if (is_dead_end_ || task.active().empty()) return;
    root_ = task.system(task.active().front()).tree;
    distances_ = task.system(task.active().front()).distances;
    tree_ = task.tree();
    // For good: the heuristic lives as long as the search.
    monitor.account().charge(tree_.bytes() + distances_.size() * sizeof(Cost));
  }

  Cost operator()(const std::int32_t* values) const {
    if (is_dead_end_) return kInfinity;
    if (distances_.empty()) return 0;  // nothing to do
    const std::int32_t state = tree_.state(root_, values);
    return state == MergeTree::kPruned ? kInfinity : distances_[static_cast<std::size_t>(state)];
  }

  std::int64_t n_states() const { return n_states_; }            // of the largest product
  std::int64_t n_transitions() const { return n_transitions_; }  // likewise

 private:
  static constexpr std::size_t kBytesPerArc =
      2 * sizeof(Transition);  // in the product and while it is pruned

  // Returns the number of transitions of the product to come.
  std::int64_t shrink(FactoredTask& task, std::pair<std::int32_t, std::int32_t> pair,
                      Monitor& monitor) const {
    for (std::int64_t most = options_.max_states;; most /= 2) {
      const auto [first, second] =
          sizes(task.system(pair.first).n_states(), task.system(pair.second).n_states(), most);
      shrink(task, pair.first, first, monitor);
      shrink(task, pair.second, second, monitor);
      const std::int64_t n_arcs = task.n_product_arcs(pair.first, pair.second);
      if (n_arcs <= options_.max_transitions || most <= 1) return n_arcs;
    }
  }

  // How many states two factors may keep so that their product stays within the limit: as balanced as
  // possible.
  static std::pair<std::int64_t, std::int64_t> sizes(std::int64_t first, std::int64_t second,
                                                     std::int64_t most) {
    if (first * second <= most) return {first, second};
    const auto balanced = static_cast<std::int64_t>(std::sqrt(static_cast<double>(most)));
    if (first <= balanced) return {first, std::max<std::int64_t>(1, most / first)};
    if (second <= balanced) return {std::max<std::int64_t>(1, most / second), second};
    return {balanced, balanced};
  }

  static void shrink(FactoredTask& task, std::int32_t number, std::int64_t most, Monitor& monitor) {
    TransitionSystem& system = task.system(number);
    const Bisimulation bisimulation(system, static_cast<std::int32_t>(most), monitor);
    if (bisimulation.n_blocks() == system.n_states()) return;
    task.rename_states(number, bisimulation.blocks(), bisimulation.n_blocks());
    system.compute_distances(monitor);
  }

  MergeAndShrinkOptions options_;
  bool is_dead_end_ = false;
  std::int32_t root_ = 0;
  MergeTree tree_;
  std::vector<Cost> distances_;  // by abstract state
  std::int64_t n_states_ = 0;
  std::int64_t n_transitions_ = 0;
};

}  // namespace plumbline
