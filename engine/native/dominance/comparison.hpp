// States that are compared with each other, as the bound-maintenance oracle does: u(t) <= u(s) - D(s, t). See
// docs/theory/oracles.md, "Bound maintenance".
//
// Each known state has told the others its bound as it was at some time. A state whose bound has fallen since
// has something to tell; a state that it improves has nothing to add, because D satisfies the triangle
// inequality.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/task.hpp"
#include "dominance/tables.hpp"

namespace plumbline {

// "The bound of `state` is that of `source` minus `gain`"; no state, no inference.
struct Inference {
  std::int32_t source = -1;
  std::int64_t gain = 0;
  Cost bound = kInfinity;
};

class DominanceComparison {
 public:
  // The tables must outlive this object.
  explicit DominanceComparison(const DominanceTables& tables) : tables_(tables) {}

  const DominanceTables& tables() const { return tables_; }
  std::size_t size() const { return states_.size(); }

  // A state by its number, with its factor states; it has told no other state yet.
  void add(std::int32_t state, const std::int32_t* ids) {
    ids_.insert(ids_.end(), ids, ids + tables_.n_factors());
    states_.push_back(state);
    told_.push_back(kInfinity);
    largest_ = std::max(largest_, state);
  }

  // Whether so many bounds, which are by number of state, include those of all known states.
  bool fits(std::int64_t n_bounds) const { return n_bounds > largest_; }

  // The best bounds that known states imply for others; of equals the one known longest.
  void infer(std::span<const Cost> bounds, std::int64_t n, const std::int32_t* targets,
             Inference* best) const {
    for (std::size_t row = 0; row < size(); ++row) {
      const Cost bound = bounds[static_cast<std::size_t>(states_[row])];
      if (bound == kInfinity) continue;  // D says nothing then: docs/theory/pitfalls.md, P13
      const std::int32_t* target = targets;
      for (std::int64_t t = 0; t < n; ++t, target += tables_.n_factors()) {
        const std::int64_t gain = tables_.value(ids(row), target);
        if (gain != DominanceTables::kNothing && bound - gain < best[t].bound) {
          best[t] = {states_[row], gain, bound - gain};
        }
      }
    }
  }

  // Lets known states that have something to tell do so, until one improves the bounds of others: `use(state,
  // gain)` for each of these. The number of that one, or -1 if no state has anything to tell.
  template <class Use>
  std::int32_t tell(std::span<const Cost> bounds, Use&& use) {
    for (std::size_t row = 0; row < size(); ++row) {
      const Cost bound = bounds[static_cast<std::size_t>(states_[row])];
      if (bound >= told_[row]) continue;
      told_[row] = bound;
      bool is_news = false;
      for (std::size_t other = 0; other < size(); ++other) {
        const std::int64_t gain = tables_.value(ids(row), ids(other));
        if (gain == DominanceTables::kNothing) continue;
        if (bound - gain >= bounds[static_cast<std::size_t>(states_[other])]) continue;
        told_[other] = bound - gain;
        use(states_[other], gain);
        is_news = true;
      }
      if (is_news) return states_[row];
    }
    return -1;
  }

 private:
  const std::int32_t* ids(std::size_t row) const { return ids_.data() + row * tables_.n_factors(); }

  const DominanceTables& tables_;
  std::vector<std::int32_t> ids_;  // a row of factor states per known state
  std::vector<std::int32_t> states_;
  std::vector<Cost> told_;
  std::int32_t largest_ = -1;
};

}  // namespace plumbline
