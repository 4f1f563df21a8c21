// LM-cut as the searches use it: the rule, the width of the values, the goal.
//
// Unless a rule is asked for, the first state evaluated for a goal (a search's start) chooses between two:
// kFGlobal, which takes longer per state, if it gives that state a higher value than kDelayOpen does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/task.hpp"
#include "heuristics/lmcut_kernel.hpp"
#include "heuristics/relaxation.hpp"
#include "heuristics/relaxed_exploration.hpp"

namespace plumbline {

class LmCut {
  // First because their result types are deduced.
  template <class Use>
  auto with_kernel(Use use) {
    return narrow_ ? use(*narrow_) : use(*wide_);
  }

  template <class Use>
  auto with_rule(Use use) {
    switch (rule_.value()) {
      case LmCutRule::kBase:
        return use.template operator()<LmCutRule::kBase>();
      case LmCutRule::kGzbd:
        return use.template operator()<LmCutRule::kGzbd>();
      case LmCutRule::kDelayOpen:
        return use.template operator()<LmCutRule::kDelayOpen>();
      case LmCutRule::kFGlobal:
        return use.template operator()<LmCutRule::kFGlobal>();
    }
    throw std::logic_error("LM-cut: unknown rule");
  }

 public:
  // Without a rule the first evaluated state chooses one.
  explicit LmCut(const Task& task, std::optional<LmCutRule> rule = std::nullopt)
      : task_(task), wanted_rule_(rule) {
    set_goal(task.goal);
  }

  void set_goal(std::span<const Fact> goal) {
    rule_ = wanted_rule_;
    narrow_.reset();
    wide_.reset();
    hmax_.reset();
    RelaxedTask relaxed = relax(task_, goal, Costs::kPlain, Dominated::kRemove, Cases::kApart);
    if (relaxed.shares_costs) hmax_.emplace(relaxed);
    if (LmCutKernel<std::int32_t>::fits(relaxed)) {
      narrow_.emplace(std::move(relaxed));
    } else if (LmCutKernel<std::int64_t>::fits(relaxed)) {
      wide_.emplace(std::move(relaxed));
    } else {
      throw std::overflow_error("LM-cut: the operator costs add up to more than 64 bits hold");
    }
  }

  Cost operator()(const std::int32_t* values) {
    const Cost found = with_kernel([&](auto& kernel) {
      if (!rule_) return choose_rule(kernel, values);
      return with_rule([&]<LmCutRule kRule>() { return kernel.template evaluate<kRule>(values); });
    });
    return at_least_hmax(found, values);
  }

  // See IncrementalHeuristic.
  void expand(const std::int32_t* values) {
    with_kernel([&](auto& kernel) {
      if (!rule_) choose_rule(kernel, values);
      with_rule([&]<LmCutRule kRule>() { kernel.template expand<kRule>(values); });
    });
  }

  Cost evaluate_successor(const std::int32_t* values, std::int32_t op) {
    const Cost found = with_kernel([&](auto& kernel) {
      return with_rule(
          [&]<LmCutRule kRule>() { return kernel.template evaluate_successor<kRule>(values, op); });
    });
    return at_least_hmax(found, values);
  }

 private:
  // Where an operator pays once for several pieces, its landmarks can be worth less than h_max (Röger,
  // Pommerening and Helmert 2014, "Optimal Planning in the Presence of Conditional Effects").
  Cost at_least_hmax(Cost found, const std::int32_t* values) {
    return hmax_ ? std::max(found, hmax_->explore(values)) : found;
  }

  template <class Kernel>
  Cost choose_rule(Kernel& kernel, const std::int32_t* values) {
    const Cost delay_open = kernel.template evaluate<LmCutRule::kDelayOpen>(values);
    const Cost f_global = kernel.template evaluate<LmCutRule::kFGlobal>(values);
    rule_ = f_global > delay_open ? LmCutRule::kFGlobal : LmCutRule::kDelayOpen;
    return std::max(delay_open, f_global);
  }

  const Task& task_;
  std::optional<LmCutRule> wanted_rule_;
  std::optional<LmCutRule> rule_;
  std::optional<RelaxedExploration<Combine::kMax>> hmax_;  // if some operators have several pieces
  std::optional<LmCutKernel<std::int32_t>> narrow_;        // while all values fit 32 bits
  std::optional<LmCutKernel<std::int64_t>> wide_;
};

}  // namespace plumbline
