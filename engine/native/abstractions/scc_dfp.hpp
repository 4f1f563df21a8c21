// Which factors to merge next: SCC-DFP (Sievers, Wehrle and Helmert 2016, "An Analysis of Merge Strategies
// for Merge-and-Shrink Heuristics"). First those whose variables depend on each other, causes before effects,
// then all; among them a pair that must work together close to the goal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "abstractions/factored_task.hpp"
#include "abstractions/transition_system.hpp"
#include "core/components.hpp"
#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

class SccDfp {
 public:
  explicit SccDfp(const Task& task) : n_variables_(task.n_variables()) {
    const std::vector<std::vector<std::int32_t>> graph = causal_graph(task);
    const Components components(graph);
    for (const std::vector<std::int32_t>& component : components.all()) {
      if (component.size() > 1) components_.push_back(component);
    }
  }

  // At least two factors are left.
  std::pair<std::int32_t, std::int32_t> next(const FactoredTask& task, Monitor& monitor) {
    std::vector<std::int32_t> candidates = components_.empty() ? task.active() : components_.front();
    // Products before variables, newest first.
    std::ranges::sort(candidates, {}, [this](std::int32_t number) {
      return number < n_variables_ ? number : n_variables_ - number - 1;
    });
    const bool some_matter = std::ranges::any_of(
        candidates, [&](std::int32_t number) { return task.system(number).matters_for_goal(); });
    std::map<std::int32_t, std::vector<Cost>> ranks;
    for (const std::int32_t number : candidates) ranks[number] = label_ranks(task, number);
    std::pair<std::int32_t, std::int32_t> best{-1, -1};
    Cost least = kInfinity;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      monitor.check();
      for (std::size_t j = i + 1; j < candidates.size(); ++j) {
        const std::pair pair{candidates[i], candidates[j]};
        if (some_matter && !matters(task, pair)) continue;
        const auto [known, is_new] = weights_.try_emplace(pair, 0);
        if (is_new) known->second = weight(ranks[pair.first], ranks[pair.second]);
        if (best.first >= 0 && known->second >= least) continue;
        best = pair;
        least = known->second;
      }
    }
    return best;
  }

  void merged(std::pair<std::int32_t, std::int32_t> pair, std::int32_t product) {
    if (components_.empty()) return;
    std::vector<std::int32_t>& component = components_.front();
    std::erase_if(component,
                  [&](std::int32_t number) { return number == pair.first || number == pair.second; });
    component.push_back(product);
    if (component.size() == 1) components_.erase(components_.begin());
  }

 private:
  static constexpr Cost kIdle = -1;

  // Variables in a precondition or in the condition of an effect matter to those that are changed, and
  // variables that are changed together matter to each other.
  static std::vector<std::vector<std::int32_t>> causal_graph(const Task& task) {
    std::vector<std::vector<std::int32_t>> successors(static_cast<std::size_t>(task.n_variables()));
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      std::vector<Fact> effects(task.effects[op].begin(), task.effects[op].end());
      for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i)
        effects.push_back(task.conditional.fact(i));
      const auto depends_on = [&](Fact effect, std::span<const Fact> facts) {
        for (const Fact fact : facts) {
          if (fact.variable != effect.variable)
            successors[static_cast<std::size_t>(fact.variable)].push_back(effect.variable);
        }
      };
      for (const Fact effect : effects) {
        depends_on(effect, task.preconditions[op]);
        depends_on(effect, effects);
      }
      for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i)
        depends_on(task.conditional.fact(i), task.conditional.conditions[i]);
    }
    for (std::vector<std::int32_t>& list : successors) {
      std::ranges::sort(list);
      list.erase(std::ranges::unique(list).begin(), list.end());
    }
    return successors;
  }

  static bool matters(const FactoredTask& task, std::pair<std::int32_t, std::int32_t> pair) {
    return task.system(pair.first).matters_for_goal() || task.system(pair.second).matters_for_goal();
  }

  // How close to the goal a label leads at best; kIdle for labels that do nothing.
  static std::vector<Cost> label_ranks(const FactoredTask& task, std::int32_t number) {
    std::vector<Cost> ranks(static_cast<std::size_t>(task.n_labels()), kIdle);
    const TransitionSystem& system = task.system(number);
    for (const LabelGroup& group : system.groups) {
      if (system.is_idle(group)) continue;
      Cost rank = kInfinity;
      for (const Transition arc : group.arcs)
        rank = std::min(rank, system.distances[static_cast<std::size_t>(arc.target)]);
      for (const std::int32_t label : group.labels) ranks[static_cast<std::size_t>(label)] = rank;
    }
    return ranks;
  }

  static Cost weight(const std::vector<Cost>& first, const std::vector<Cost>& second) {
    Cost least = kInfinity;
    for (std::size_t label = 0; label < first.size(); ++label) {
      if (first[label] == kIdle || second[label] == kIdle) continue;
      least = std::min(least, std::max(first[label], second[label]));
    }
    return least;
  }

  std::int32_t n_variables_;
  std::vector<std::vector<std::int32_t>> components_;  // of factors that have not been merged yet
  // Label reduction does not change them: the labels it combines have one rank in all factors but one.
  std::map<std::pair<std::int32_t, std::int32_t>, Cost> weights_;
};

}  // namespace plumbline
