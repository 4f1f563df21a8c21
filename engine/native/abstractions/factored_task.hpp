// A task as a set of factors that move together, label by label (Sievers and Helmert 2021, "Merge-and-Shrink:
// A Compositional Theory of Transformations of Factored Transition Systems"). Labels are the operators, or
// their cases where effects have conditions; label reduction lets one stand for several. An operator with too
// many cases is one label with every step that its effects may take: no longer exact, but never too
// expensive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "abstractions/merge_tree.hpp"
#include "abstractions/task_labels.hpp"
#include "abstractions/transition_system.hpp"
#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

class FactoredTask {
 public:
  // One factor per variable, pruned.
  FactoredTask(const SearchRequest& request, Monitor& monitor)
      : labels_(request.compiled.task), costs_(labels_.costs()), is_alive_(costs_.size(), 1) {
    add_atomic_systems(request);
    for (const std::int32_t system : active_) prune(system, monitor);
    remove_dead_labels(monitor);
  }

  // Numbers of the factors that have not been merged, ascending.
  const std::vector<std::int32_t>& active() const { return active_; }
  TransitionSystem& system(std::int32_t number) { return systems_[index(number)]; }
  const TransitionSystem& system(std::int32_t number) const { return systems_[index(number)]; }
  const MergeTree& tree() const { return tree_; }
  std::int32_t n_labels() const { return static_cast<std::int32_t>(costs_.size()); }
  Cost cost(std::int32_t label) const { return costs_[index(label)]; }
  bool is_alive(std::int32_t label) const { return is_alive_[index(label)] != 0; }

  bool is_solvable() const {
    return std::ranges::all_of(active_, [this](std::int32_t number) { return system(number).is_solvable(); });
  }

  // By label; -1 for labels that are dead.
  std::vector<std::int32_t> group_of_labels(std::int32_t number) const {
    std::vector<std::int32_t> result(costs_.size(), -1);
    const std::vector<LabelGroup>& groups = system(number).groups;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      for (const std::int32_t label : groups[group].labels)
        result[index(label)] = static_cast<std::int32_t>(group);
    }
    return result;
  }

  void forget_labels(std::span<const std::int32_t> labels) {
    for (const std::int32_t label : labels) is_alive_[index(label)] = 0;
  }

  // Drops labels that are no longer alive, and groups that have no others.
  void update_groups(std::int32_t number) {
    for (LabelGroup& group : system(number).groups) {
      std::erase_if(group.labels, [this](std::int32_t label) { return !is_alive(label); });
      set_cost(group);
    }
    std::erase_if(system(number).groups, [](const LabelGroup& group) { return group.labels.empty(); });
  }

  void set_cost(LabelGroup& group) const {
    group.cost = kInfinity;
    for (const std::int32_t label : group.labels) group.cost = std::min(group.cost, cost(label));
  }

  void rename_states(std::int32_t number, std::span<const std::int32_t> name, std::int32_t n_names) {
    system(number).rename(name, n_names);
    system(number).combine_equal_groups();
    tree_.rename(system(number).tree, name);
  }

  // How many transitions the product has before anything is pruned.
  std::int64_t n_product_arcs(std::int32_t first, std::int32_t second) const {
    std::int64_t sum = 0;
    for_each_pair_of_groups(first, second, [&](std::size_t a, std::size_t b, const auto&) {
      sum += static_cast<std::int64_t>(system(first).groups[a].arcs.size()) *
             static_cast<std::int64_t>(system(second).groups[b].arcs.size());
    });
    return sum;
  }

  // Replaces two factors by their product; returns its number.
  std::int32_t merge(std::int32_t first, std::int32_t second, Monitor& monitor) {
    TransitionSystem merged = product(first, second, monitor);
    merged.tree = tree_.add_product(system(first).tree, system(first).n_states(), system(second).tree,
                                    system(second).n_states());
    std::erase_if(active_, [&](std::int32_t number) { return number == first || number == second; });
    system(first) = {};
    system(second) = {};
    const auto number = static_cast<std::int32_t>(systems_.size());
    systems_.push_back(std::move(merged));
    active_.push_back(number);
    prune(number, monitor);
    remove_dead_labels(monitor);
    return number;
  }

  std::size_t bytes() const {
    std::size_t sum = tree_.bytes();
    for (const std::int32_t number : active_)
      sum += static_cast<std::size_t>(system(number).n_arcs()) * sizeof(Transition);
    return sum;
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  void add_atomic_systems(const SearchRequest& request) {
    const Task& task = request.compiled.task;
    // What labels do with a variable, for those that it matters to.
    std::vector<std::map<std::vector<Transition>, std::vector<std::int32_t>>> uses(request.start.size());
    for (std::int32_t label = 0; label < n_labels(); ++label) {
      for (const std::int32_t variable : labels_.touched(label))
        uses[index(variable)][labels_.arcs(label, variable)].push_back(label);
    }
    for (std::int32_t v = 0; v < task.n_variables(); ++v) {
      TransitionSystem system;
      const std::int32_t n_values = task.domain_sizes[index(v)];
      system.initial = request.start[index(v)];
      system.is_goal.assign(index(n_values), 1);
      for (const Fact fact : request.goal) {
        if (fact.variable != v) continue;
        system.is_goal.assign(index(n_values), 0);
        system.is_goal[index(fact.value)] = 1;
      }
      system.tree = tree_.add_variable(v, n_values);
      std::vector<Transition> loops;
      for (std::int32_t x = 0; x < n_values; ++x) loops.push_back({x, x});
      system.groups.push_back({labels_without(uses[index(v)]), std::move(loops), 0});
      for (auto& [arcs, labels] : uses[index(v)]) system.groups.push_back({std::move(labels), arcs, 0});
      for (LabelGroup& group : system.groups) set_cost(group);
      system.combine_equal_groups();
      active_.push_back(v);
      systems_.push_back(std::move(system));
    }
  }

  template <class Uses>
  std::vector<std::int32_t> labels_without(const Uses& uses) const {
    std::vector<char> is_listed(costs_.size());
    for (const auto& [use, labels] : uses) {
      for (const std::int32_t label : labels) is_listed[index(label)] = 1;
    }
    std::vector<std::int32_t> rest;
    for (std::int32_t label = 0; label < n_labels(); ++label) {
      if (!is_listed[index(label)]) rest.push_back(label);
    }
    return rest;
  }

  // Calls visit(group of the first, group of the second, their common labels).
  template <class Visit>
  void for_each_pair_of_groups(std::int32_t first, std::int32_t second, Visit&& visit) const {
    const std::vector<std::int32_t> in_second = group_of_labels(second);
    std::map<std::int32_t, std::vector<std::int32_t>> common;
    for (std::size_t a = 0; a < system(first).groups.size(); ++a) {
      common.clear();
      for (const std::int32_t label : system(first).groups[a].labels)
        common[in_second[index(label)]].push_back(label);
      for (auto& [b, labels] : common) visit(a, index(b), labels);
    }
  }

  TransitionSystem product(std::int32_t first, std::int32_t second, Monitor& monitor) const {
    const TransitionSystem& left = system(first);
    const TransitionSystem& right = system(second);
    const std::int32_t n = right.n_states();
    TransitionSystem result;
    result.initial = left.initial * n + right.initial;
    for (const char a : left.is_goal) {
      for (const char b : right.is_goal) result.is_goal.push_back(a && b);
    }
    for_each_pair_of_groups(
        first, second, [&](std::size_t a, std::size_t b, std::vector<std::int32_t>& labels) {
          monitor.check();
          LabelGroup group{std::move(labels), synchronized(left.groups[a].arcs, right.groups[b].arcs, n), 0};
          set_cost(group);
          result.groups.push_back(std::move(group));
        });
    return result;
  }

  // In ascending order: sources of the left, of the right, then targets.
  static std::vector<Transition> synchronized(std::span<const Transition> left,
                                              std::span<const Transition> right, std::int32_t n) {
    std::vector<Transition> arcs;
    arcs.reserve(left.size() * right.size());
    const auto run_end = [](std::span<const Transition> list, std::size_t begin) {
      std::size_t end = begin;
      while (end < list.size() && list[end].source == list[begin].source) ++end;
      return end;
    };
    for (std::size_t i = 0; i < left.size();) {
      const std::size_t i_end = run_end(left, i);
      for (std::size_t j = 0; j < right.size();) {
        const std::size_t j_end = run_end(right, j);
        for (std::size_t a = i; a < i_end; ++a) {
          for (std::size_t b = j; b < j_end; ++b) {
            arcs.push_back({left[a].source * n + right[b].source, left[a].target * n + right[b].target});
          }
        }
        j = j_end;
      }
      i = i_end;
    }
    return arcs;
  }

  void prune(std::int32_t number, Monitor& monitor) {
    system(number).compute_distances(monitor);
    const std::vector<std::int32_t> name = system(number).useful_states();
    const auto n_kept = static_cast<std::int32_t>(
        std::ranges::count_if(name, [](std::int32_t state) { return state != TransitionSystem::kPruned; }));
    if (n_kept == system(number).n_states()) {
      system(number).combine_equal_groups();
    } else {
      rename_states(number, name, n_kept);
    }
  }

  // A label without transitions in some factor cannot be used on any way from the start to the goal.
  void remove_dead_labels(Monitor& monitor) {
    std::vector<std::int32_t> waiting = active_;
    while (!waiting.empty()) {
      std::vector<std::int32_t> dead;
      for (const std::int32_t number : waiting) {
        for (const LabelGroup& group : system(number).groups) {
          if (group.arcs.empty()) dead.insert(dead.end(), group.labels.begin(), group.labels.end());
        }
      }
      waiting.clear();
      if (dead.empty()) return;
      forget_labels(dead);
      for (const std::int32_t number : active_) {
        const std::int64_t n_arcs = system(number).n_arcs();
        update_groups(number);
        if (system(number).n_arcs() == n_arcs) continue;
        prune(number, monitor);
        waiting.push_back(number);
      }
    }
  }

  TaskLabels labels_;
  std::vector<Cost> costs_;     // by label
  std::vector<char> is_alive_;  // by label
  std::vector<TransitionSystem> systems_;
  std::vector<std::int32_t> active_;
  MergeTree tree_;
};

}  // namespace plumbline
