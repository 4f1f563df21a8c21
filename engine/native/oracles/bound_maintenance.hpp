// What the bound-maintenance oracle knows: the states that it compares, and what follows for their bounds.
// See docs/theory/oracles.md, "Bound maintenance".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dominance/comparison.hpp"
#include "dominance/tables.hpp"
#include "oracles/bounds.hpp"

namespace plumbline {

class BoundMaintenance {
 public:
  // Both must outlive this object; `origin` is the oracle's number there.
  BoundMaintenance(const DominanceTables& tables, Bounds& bounds, std::int32_t origin)
      : comparison_(tables),
        bounds_(bounds),
        fallen_(bounds.watch()),
        origin_(origin),
        values_(bounds.store().task().domain_sizes.size()),
        ids_(tables.n_factors()) {}

  StateStore& store() const { return bounds_.store(); }

  // Compares new states with all others, in both directions. False if there is no such state.
  bool compare(std::span<const std::int32_t> states) {
    for (const std::int32_t state : states) {
      if (comparison_.has(state)) continue;
      if (!find(state)) return false;
      comparison_.queue(state, bounds_.u(state), ids_.data());
    }
    spread();
    return true;
  }

  // Lets all states know of bounds that fell for any reason.
  void spread() {
    while (true) {
      for (const std::int32_t state : fallen_->states()) comparison_.lower(state, bounds_.u(state));
      fallen_->clear();
      news_.clear();
      const std::int32_t source =
          comparison_.step([this](std::int32_t state, std::int64_t gain) { news_.push_back({state, gain}); });
      if (source < 0) return;
      for (const News& news : news_) bounds_.add_morph(news.state, source, news.gain, origin_);
    }
  }

  // The best bound that compared states imply for a state of the store; false if there is no such state.
  bool infer(std::int32_t state, Inference& best) {
    if (!find(state)) return false;
    best = comparison_.infer(ids_.data());
    return true;
  }

 private:
  struct News {
    std::int32_t state;
    std::int64_t gain;
  };

  bool find(std::int32_t state) {
    return store().values(1, &state, values_.data()) &&
           comparison_.tables().find(static_cast<std::int32_t>(values_.size()), values_.data(), ids_.data());
  }

  DominanceComparison comparison_;
  Bounds& bounds_;
  std::shared_ptr<Fallen> fallen_;
  std::int32_t origin_;
  std::vector<News> news_;
  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> ids_;
};

}  // namespace plumbline
