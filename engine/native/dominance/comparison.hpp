// States that are compared with each other, as the bound-maintenance oracle does: u(t) <= u(s) - D(s, t). See
// docs/theory/oracles.md, "Bound maintenance".
//
// Each known state has told the others its bound as it was at some time. A state whose bound has fallen since
// has something to tell; a state that it improves has nothing to add, because D satisfies the triangle
// inequality. States wait in a queue until those before them have told all they have to tell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/task.hpp"
#include "dominance/pair_values.hpp"
#include "dominance/tables.hpp"

namespace plumbline {

// "The bound of a state is that of `source` minus `gain`"; no source, no inference.
struct Inference {
  std::int32_t source = -1;
  std::int64_t gain = 0;
  Cost bound = kInfinity;
};

class DominanceComparison {
 public:
  // The tables must outlive this object.
  explicit DominanceComparison(const DominanceTables& tables) : tables_(tables), pairs_(tables) {}

  const DominanceTables& tables() const { return tables_; }
  std::size_t size() const { return states_.size(); }
  bool has(std::int32_t state) const { return rows_.contains(state); }

  // A state by its number, with its bound and its factor states. False if it is there already.
  bool queue(std::int32_t state, Cost bound, const std::int32_t* ids) {
    if (!rows_.emplace(state, size()).second) return false;
    pairs_.add(ids);
    if (size() % PairValues::kBlock == 0) ranges_.push_back({bound, bound});
    Range& range = ranges_.back();
    range = {std::min(range.lowest, bound), std::max(range.highest, bound)};
    states_.push_back(state);
    bounds_.push_back(bound);
    told_.push_back(kInfinity);
    return true;
  }

  // The bound of a state fell, which may be of no interest here.
  void lower(std::int32_t state, Cost bound) {
    const auto found = rows_.find(state);
    if (found == rows_.end() || bound >= bounds_[found->second]) return;
    const std::size_t block = found->second / PairValues::kBlock;
    const bool was_highest = bounds_[found->second] == ranges_[block].highest;
    bounds_[found->second] = bound;
    ranges_[block].lowest = std::min(ranges_[block].lowest, bound);
    if (was_highest) ranges_[block].highest = *std::ranges::max_element(bounds_of(block));
    if (found->second < n_known_) note(found->second);
  }

  // Continues until something follows for the bounds of states: `use(state, gain)` for each of these. The
  // number of the state that it follows from, or -1 if nothing follows anymore.
  template <class Use>
  std::int32_t step(Use&& use) {
    while (true) {
      if (!news_.empty()) {
        const std::size_t row = news_.top();
        news_.pop();
        if (bounds_[row] < told_[row] && tell(row, use)) return states_[row];
      } else if (n_known_ < size()) {
        const std::size_t row = n_known_;
        const Inference best = infer(pairs_.ids(row), bounds_[row]);
        ++n_known_;
        note(row);
        if (best.source >= 0) {
          use(states_[row], best.gain);
          return best.source;
        }
      } else {
        return -1;
      }
    }
  }

  // The best bound below another one that known states imply for a state; of equals the one known longest.
  Inference infer(const std::int32_t* target, Cost below = kInfinity) {
    pairs_.fix_target(target);
    Inference best{.bound = below};
    if (pairs_.most() == DominanceTables::kNothing) return best;
    PairValues::Block gains;
    for (std::size_t first = 0; first < n_known_; first += PairValues::kBlock) {
      const Cost lowest = ranges_[first / PairValues::kBlock].lowest;
      if (lowest == kInfinity || lowest - pairs_.most() >= best.bound) continue;
      const std::int64_t useless = best.bound == kInfinity ? DominanceTables::kNothing : lowest - best.bound;
      if (!pairs_.values(first / PairValues::kBlock, useless, gains)) continue;
      const std::size_t n = std::min(PairValues::kBlock, n_known_ - first);
      for (std::size_t k = 0; k < n; ++k) {
        const Cost bound = bounds_[first + k];
        // D says nothing about unsolvable states: docs/theory/pitfalls.md, P13
        if (gains[k] == DominanceTables::kNothing || bound == kInfinity) continue;
        if (bound - gains[k] < best.bound) best = {states_[first + k], gains[k], bound - gains[k]};
      }
    }
    return best;
  }

 private:
  std::span<const Cost> bounds_of(std::size_t block) const {
    const std::size_t first = block * PairValues::kBlock;
    return {bounds_.data() + first, std::min(PairValues::kBlock, size() - first)};
  }

  // Those that are known longest tell first.
  void note(std::size_t row) {
    if (bounds_[row] < told_[row]) news_.push(row);
  }

  template <class Use>
  bool tell(std::size_t row, Use&& use) {
    const Cost bound = told_[row] = bounds_[row];
    pairs_.fix_source(pairs_.ids(row));
    if (pairs_.most() == DominanceTables::kNothing) return false;
    bool is_news = false;
    PairValues::Block gains;
    for (std::size_t first = 0; first < n_known_; first += PairValues::kBlock) {
      const Cost highest = ranges_[first / PairValues::kBlock].highest;
      if (bound - pairs_.most() >= highest) continue;
      const std::int64_t useless = highest == kInfinity ? DominanceTables::kNothing : bound - highest;
      if (!pairs_.values(first / PairValues::kBlock, useless, gains)) continue;
      const std::size_t n = std::min(PairValues::kBlock, n_known_ - first);
      for (std::size_t k = 0; k < n; ++k) {
        if (gains[k] == DominanceTables::kNothing || bound - gains[k] >= bounds_[first + k]) continue;
        told_[first + k] = bound - gains[k];
        use(states_[first + k], gains[k]);
        is_news = true;
      }
    }
    return is_news;
  }

  struct Range {
    Cost lowest;
    Cost highest;
  };

  const DominanceTables& tables_;
  PairValues pairs_;
  std::vector<std::int32_t> states_;
  std::vector<Cost> bounds_;
  std::vector<Cost> told_;
  std::vector<Range> ranges_;                           // of the bounds, by block
  std::unordered_map<std::int32_t, std::size_t> rows_;  // by state
  std::size_t n_known_ = 0;                             // the others wait
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> news_;
};

}  // namespace plumbline
