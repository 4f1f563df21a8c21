// The quantitative dominance fix-point without tau steps (Torralba 2017, "From Qualitative to Quantitative
// Dominance Pruning for Optimal Planning"). See docs/theory/dominance.md, "Fix-point".
//
// Tables come in too large and fall until condition (T) holds: every step of s has an answer of t. Different
// from the paper: an answer's price in the other factors is kept only for the few pairs of labels that can
// answer each other at all, a pair (s, t) is settled as soon as one answer is good enough, and a step is
// looked at again only when the row it depends on has fallen. Values may only fall, so the order does not
// matter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "dominance/system.hpp"
#include "search/search.hpp"

namespace plumbline {

enum class Answers {
  kAll,            // every label may answer every label
  kSameOrNothing,  // only the label itself and doing nothing: weaker, but no table of label pairs
};

// Lam_j(l, l') by groups: what it costs factor j at worst that l' is executed instead of l.
class LabelPrices {
 public:
  LabelPrices(const DominanceFactor& factor, Answers answers) : factor_(factor), answers_(answers) {
    const auto m = static_cast<std::size_t>(factor.n_groups);
    prices_.assign(answers == Answers::kAll ? m * m : m, std::numeric_limits<Value>::max());
    least_.resize(m);
    covered_.resize(m);
  }

  Value operator()(std::int32_t question, std::int32_t answer) const {
    if (answers_ == Answers::kAll) return prices_[index(question) * least_.size() + index(answer)];
    return question == answer ? 0 : prices_[index(question)];  // the answer is to do nothing
  }

  // Whether anything fell.
  bool recompute(const DominanceTable& table, Monitor& monitor) {
    bool fell = false;
    for (std::int32_t question = 0; question < factor_.n_groups; ++question) {
      monitor.check();
      fell |= answers_ == Answers::kAll ? recompute_row(question, table) : recompute_nothing(question, table);
    }
    return fell;
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  template <class Use>
  void for_each_arc(std::int32_t group, Use&& use) const {
    if (group == 0) {
      for (std::int32_t x = 0; x < factor_.n_states; ++x) use(Arc{x, x});
    } else {
      for (const Arc arc : factor_.by_group[group]) use(arc);
    }
  }

  bool recompute_row(std::int32_t question, const DominanceTable& table) {
    std::fill(least_.begin(), least_.end(), kRange);
    std::fill(covered_.begin(), covered_.end(), 0);
    std::int32_t n_sources = 0;
    for_each_arc(question, [&](Arc arc) {
      ++n_sources;
      const Value* after = table.row(arc.to);
      note(0, after[arc.from]);
      for (const GroupArc answer : factor_.by_source[arc.from]) note(answer.group, after[answer.to]);
    });
    bool fell = false;
    Value* row = prices_.data() + index(question) * least_.size();
    for (std::size_t g = 0; g < least_.size(); ++g) {
      const Value price = covered_[g] == n_sources ? least_[g] : kNoValue;
      fell |= price < row[g];
      row[g] = price;
    }
    return fell;
  }

  void note(std::int32_t answer, Value value) {
    ++covered_[index(answer)];
    least_[index(answer)] = std::min(least_[index(answer)], value);
  }

  bool recompute_nothing(std::int32_t question, const DominanceTable& table) {
    Value price = kRange;
    for_each_arc(question, [&](Arc arc) { price = std::min(price, table.row(arc.to)[arc.from]); });
    const bool fell = price < prices_[index(question)];
    prices_[index(question)] = price;
    return fell;
  }

  const DominanceFactor& factor_;
  Answers answers_;
  std::vector<Value> prices_;  // all pairs, or only "nothing" as the answer
  std::vector<Value> least_;
  std::vector<std::int32_t> covered_;
};

// The labels that can answer a label, each with the sum of its prices over all factors. A pair without a
// price in two factors is no answer in any factor and is forgotten.
class LabelAnswers {
 public:
  struct Answer {
    std::int32_t label;
    std::int32_t missing;  // the only factor without a price, -1: none
    std::int64_t total;    // of all others
  };

  LabelAnswers(const DominanceSystem& system, const std::vector<LabelPrices>& prices, Answers answers,
               Monitor& monitor)
      : system_(system), prices_(prices), by_label_(static_cast<std::size_t>(system.n_labels())) {
    for (std::int32_t l = 0; l < system.n_labels(); ++l) {
      monitor.check();
      std::vector<Answer>& row = by_label_[static_cast<std::size_t>(l)];
      if (answers == Answers::kAll) {
        for (std::int32_t answer = 0; answer <= system.noop(); ++answer) add(l, answer, row);
      } else {
        add(l, l, row);
        add(l, system.noop(), row);
      }
      row.shrink_to_fit();
    }
  }

  const std::vector<Answer>& operator[](std::int32_t label) const {
    return by_label_[static_cast<std::size_t>(label)];
  }

  void recompute(Monitor& monitor) {
    for (std::int32_t l = 0; l < system_.n_labels(); ++l) {
      monitor.check();
      std::vector<Answer>& row = by_label_[static_cast<std::size_t>(l)];
      std::erase_if(row, [&](Answer& answer) { return !price(l, answer); });
    }
  }

 private:
  void add(std::int32_t question, std::int32_t label, std::vector<Answer>& row) {
    Answer answer{label, -1, 0};
    if (price(question, answer)) row.push_back(answer);
  }

  // False if it is no answer.
  bool price(std::int32_t question, Answer& answer) {
    answer.total = 0;
    answer.missing = -1;
    const std::span<const std::int32_t> a = system_.relevant[question];
    const std::span<const std::int32_t> b = system_.relevant[answer.label];
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
      const bool from_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
      const std::int32_t factor = from_a ? a[i] : b[j];
      i += from_a ? 1 : 0;
      j += j < b.size() && b[j] == factor ? 1 : 0;
      const Value value = prices_[static_cast<std::size_t>(factor)](system_.group(factor, question),
                                                                    system_.group(factor, answer.label));
      if (value != kNoValue) {
        answer.total += value;
      } else if (answer.missing >= 0) {
        return false;
      } else {
        answer.missing = factor;
      }
    }
    return true;
  }

  const DominanceSystem& system_;
  const std::vector<LabelPrices>& prices_;
  std::vector<std::vector<Answer>> by_label_;
};

class DominanceFixPoint {
 public:
  DominanceFixPoint(const DominanceSystem& system, std::vector<DominanceTable> tables, Value truncation,
                    Answers answers, Monitor& monitor)
      : system_(system),
        tables_(std::move(tables)),
        truncation_(truncation),
        answers_(answers),
        monitor_(monitor) {
    for (const DominanceFactor& factor : system.factors) prices_.emplace_back(factor, answers);
    steps_.resize(system.factors.size());
    row_fell_.resize(system.factors.size());
    for (std::int32_t i = 0; i < system.n_factors(); ++i) {
      order_.push_back(i);
      row_fell_[index(i)].assign(tables_[index(i)].n, 1);
      for (std::int32_t l = 0; l < system.n_labels(); ++l) {
        const std::int32_t group = system.group(i, l);
        if (group == 0) continue;
        steps_[index(i)].push_back(
            {l, group, {}, std::vector<std::int64_t>(system.factor(i).by_group[group].size())});
      }
      std::stable_sort(steps_[index(i)].begin(), steps_[index(i)].end(),
                       [](const Step& a, const Step& b) { return a.group < b.group; });
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return tables_[index(a)].n < tables_[index(b)].n;
    });
  }

  void run() {
    for (std::int32_t i = 0; i < system_.n_factors(); ++i) recompute_prices(i);
    LabelAnswers label_answers(system_, prices_, answers_, monitor_);
    while (true) {
      std::vector<std::int32_t> fallen;
      for (const std::int32_t i : order_) {
        if (lower(i, label_answers)) fallen.push_back(i);
      }
      bool prices_fell = false;
      for (const std::int32_t i : fallen) prices_fell |= recompute_prices(i);
      if (!prices_fell) return;
      label_answers.recompute(monitor_);
    }
  }

 private:
  struct Price {
    std::int32_t group;
    Value value;  // c(l) - c(l') + Lam^{-i}(l, l') for the best l' of the group
    bool operator==(const Price&) const = default;
  };

  // All steps of one label in a factor, and what it takes to answer them.
  struct Step {
    std::int32_t label;
    std::int32_t group;
    std::vector<Price> answers;
    std::vector<std::int64_t> looked_at;  // by arc of the group; 0: never
    bool repeated = false;                // another label of the group has the same answers
  };

  struct Landing {
    std::int32_t to;
    Value value;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  bool recompute_prices(std::int32_t i) { return prices_[index(i)].recompute(tables_[index(i)], monitor_); }

  // Whether the factor's table fell; afterward (T) holds for it with the present prices.
  bool lower(std::int32_t i, const LabelAnswers& label_answers) {
    find_answers(i, label_answers);
    bool fell = false;
    bool again = true;
    while (again) {
      again = false;
      for (Step& step : steps_[index(i)]) {
        if (!step.repeated && is_stale(i, step)) again |= enforce(i, step);
      }
      fell |= again;
    }
    return fell;
  }

  void find_answers(std::int32_t i, const LabelAnswers& label_answers) {
    std::vector<Step>& steps = steps_[index(i)];
    std::vector<Value> best(static_cast<std::size_t>(system_.factor(i).n_groups), kNoValue);
    std::vector<Price> found;
    for (Step& step : steps) {
      monitor_.check();
      found.clear();
      for (const LabelAnswers::Answer& answer : label_answers[step.label]) {
        const std::int32_t group = system_.group(i, answer.label);
        std::int64_t elsewhere = answer.total;
        if (answer.missing < 0) {
          elsewhere -= prices_[index(i)](step.group, group);
        } else if (answer.missing != i) {
          continue;
        }
        const Value value =
            lowered(elsewhere + system_.costs[index(step.label)] - system_.costs[index(answer.label)]);
        if (value > best[index(group)]) {
          if (best[index(group)] == kNoValue) found.push_back({group, 0});
          best[index(group)] = value;
        }
      }
      for (Price& price : found) {
        price.value = best[index(price.group)];
        best[index(price.group)] = kNoValue;
      }
      std::sort(found.begin(), found.end(), [](const Price& a, const Price& b) { return a.group < b.group; });
      if (found != step.answers) {
        step.answers = found;
        std::fill(step.looked_at.begin(), step.looked_at.end(), 0);
      }
    }
    for (std::size_t k = 0; k < steps.size(); ++k) {
      steps[k].repeated = false;
      for (std::size_t other = k;
           other-- > 0 && steps[other].group == steps[k].group && !steps[k].repeated;) {
        steps[k].repeated = !steps[other].repeated && steps[other].answers == steps[k].answers;
      }
    }
  }

  bool is_stale(std::int32_t i, const Step& step) const {
    const std::span<const Arc> arcs = system_.factor(i).by_group[step.group];
    for (std::size_t k = 0; k < arcs.size(); ++k) {
      if (step.looked_at[k] < row_fell_[index(i)][index(arcs[k].to)]) return true;
    }
    return false;
  }

  // (T) for all steps of one label: whether the table fell.
  bool enforce(std::int32_t i, Step& step) {
    const DominanceFactor& factor = system_.factor(i);
    find_landings(factor, step);
    bool fell = false;
    const std::span<const Arc> arcs = factor.by_group[step.group];
    for (std::size_t k = 0; k < arcs.size(); ++k) {
      std::vector<std::int64_t>& row_fell = row_fell_[index(i)];
      if (step.looked_at[k] >= row_fell[index(arcs[k].to)]) continue;
      monitor_.check_expansions();
      monitor_.check();
      step.looked_at[k] = ++clock_;
      if (!enforce(tables_[index(i)], arcs[k])) continue;
      row_fell[index(arcs[k].from)] = ++clock_;
      fell = true;
    }
    return fell;
  }

  bool enforce(const DominanceTable& table, Arc arc) {
    Value* row = table.row(arc.from);
    const Value* after = table.row(arc.to);
    bool fell = false;
    for (std::size_t t = 0; t < table.n; ++t) {
      if (row[t] == kNoValue || t == index(arc.from)) continue;
      ++monitor_.expanded;
      Value best = kNoValue;
      for (std::size_t k = landing_begin_[t]; k < landing_begin_[t + 1] && best < row[t]; ++k) {
        const Value there = after[index(landings_[k].to)];
        if (there != kNoValue) best = std::max(best, there + landings_[k].value);
      }
      if (best >= row[t]) continue;
      row[t] = best < -truncation_ ? kNoValue : best;
      fell = true;
    }
    return fell;
  }

  // Where the answers to a label lead from each state, and at which price.
  void find_landings(const DominanceFactor& factor, const Step& step) {
    price_of_group_.assign(static_cast<std::size_t>(factor.n_groups), kNoValue);
    for (const Price& price : step.answers) price_of_group_[index(price.group)] = price.value;
    landings_.clear();
    landing_begin_.assign(1, 0);
    for (std::int32_t t = 0; t < factor.n_states; ++t) {
      if (price_of_group_[0] != kNoValue) landings_.push_back({t, price_of_group_[0]});
      for (const GroupArc arc : factor.by_source[t]) {
        const Value price = price_of_group_[index(arc.group)];
        if (price != kNoValue) landings_.push_back({arc.to, price});
      }
      landing_begin_.push_back(landings_.size());
    }
  }

  const DominanceSystem& system_;
  std::vector<DominanceTable> tables_;
  Value truncation_;
  Answers answers_;
  Monitor& monitor_;
  std::vector<LabelPrices> prices_;
  std::vector<std::vector<Step>> steps_;             // by factor
  std::vector<std::vector<std::int64_t>> row_fell_;  // by factor and state: when
  std::vector<std::int32_t> order_;                  // small factors first
  std::int64_t clock_ = 1;
  std::vector<Value> price_of_group_;
  std::vector<Landing> landings_;
  std::vector<std::size_t> landing_begin_;
};

}  // namespace plumbline
