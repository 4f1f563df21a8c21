// Exact generalized label reduction (Sievers, Wehrle and Helmert 2014, "Generalized Label Reduction for
// Merge-and-Shrink Heuristics"): labels of the same cost that do the same in all factors but one become one
// label, which in that factor does what any of them did. Repeated until no factor allows more; no plan
// and no cost changes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "abstractions/factored_task.hpp"
#include "abstractions/transition_system.hpp"
#include "search/search.hpp"

namespace plumbline {

class LabelReduction {
 public:
  LabelReduction(FactoredTask& task, Monitor& monitor)
      : task_(task),
        monitor_(monitor),
        factors_(task.active()),
        sums_(static_cast<std::size_t>(task.n_labels())) {
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      group_of_.push_back(task.group_of_labels(factors_[i]));
      add(i);
    }
  }

  void run() {
    std::size_t n_unchanged = 0;
    for (std::size_t i = 0; n_unchanged < factors_.size(); i = (i + 1) % factors_.size()) {
      monitor_.check();
      n_unchanged = reduce(i) ? 1 : n_unchanged + 1;
    }
    for (const std::int32_t factor : factors_) task_.update_groups(factor);
  }

 private:
  using Classes =
      std::map<std::int32_t, std::vector<std::int32_t>>;  // the label that stays, and those it replaces

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::uint64_t hash(std::size_t factor, std::size_t label) const {
    return transition_systems::mixed(factor << 32 | static_cast<std::uint32_t>(group_of_[factor][label]));
  }
  void add(std::size_t factor) {
    for (std::size_t label = 0; label < sums_.size(); ++label) sums_[label] += hash(factor, label);
  }
  void subtract(std::size_t factor) {
    for (std::size_t label = 0; label < sums_.size(); ++label) sums_[label] -= hash(factor, label);
  }

  // Whether labels could be combined that differ in this factor at most.
  bool reduce(std::size_t factor) {
    subtract(factor);
    const Classes classes = equal_outside(factor);
    if (!classes.empty()) {
      for (const auto& [label, replaced] : classes) task_.forget_labels(replaced);
      combine(factor, classes);
      group_of_[factor] = task_.group_of_labels(factors_[factor]);
    }
    add(factor);
    return !classes.empty();
  }

  // Sums over the other factors find candidates, the groups themselves decide.
  Classes equal_outside(std::size_t factor) {
    Classes classes;
    table_.assign(std::bit_ceil(2 * sums_.size() + 1), -1);
    for (std::int32_t label = 0; label < task_.n_labels(); ++label) {
      if (!task_.is_alive(label)) continue;
      const std::uint64_t key =
          transition_systems::mixed(sums_[index(label)] + static_cast<std::uint64_t>(task_.cost(label)));
      std::size_t slot = key & (table_.size() - 1);
      while (table_[slot] >= 0 && !are_equal_outside(factor, table_[slot], label))
        slot = (slot + 1) & (table_.size() - 1);
      if (table_[slot] >= 0) {
        classes[table_[slot]].push_back(label);
      } else {
        table_[slot] = label;
      }
    }
    return classes;
  }

  bool are_equal_outside(std::size_t factor, std::int32_t a, std::int32_t b) const {
    if (sums_[index(a)] != sums_[index(b)] || task_.cost(a) != task_.cost(b)) return false;
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      if (i != factor && group_of_[i][index(a)] != group_of_[i][index(b)]) return false;
    }
    return true;
  }

  // In the factor itself a class does what any of its labels did.
  void combine(std::size_t factor, const Classes& classes) {
    TransitionSystem& system = task_.system(factors_[factor]);
    const std::vector<std::int32_t>& group_of = group_of_[factor];
    for (const auto& [label, replaced] : classes) {
      std::vector<std::int32_t> groups{group_of[index(label)]};
      for (const std::int32_t other : replaced) groups.push_back(group_of[index(other)]);
      std::ranges::sort(groups);
      groups.erase(std::ranges::unique(groups).begin(), groups.end());
      if (groups.size() == 1) continue;
      LabelGroup together{{label}, {}, task_.cost(label)};
      for (const std::int32_t group : groups) {
        const std::vector<Transition>& arcs = system.groups[index(group)].arcs;
        together.arcs.insert(together.arcs.end(), arcs.begin(), arcs.end());
      }
      std::ranges::sort(together.arcs);
      together.arcs.erase(std::ranges::unique(together.arcs).begin(), together.arcs.end());
      std::erase(system.groups[index(group_of[index(label)])].labels, label);
      system.groups.push_back(std::move(together));
    }
    task_.update_groups(factors_[factor]);
    system.combine_equal_groups();
  }

  FactoredTask& task_;
  Monitor& monitor_;
  const std::vector<std::int32_t> factors_;
  std::vector<std::vector<std::int32_t>> group_of_;  // by factor and label
  std::vector<std::uint64_t> sums_;                  // by label: a hash of its groups
  std::vector<std::int32_t> table_;
};

inline void reduce_labels(FactoredTask& task, Monitor& monitor) { LabelReduction(task, monitor).run(); }

}  // namespace plumbline
