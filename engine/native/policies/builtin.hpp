// Policies without a file, which engine/policies/builtin.py describes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/quotient.hpp"
#include "core/state_store.hpp"
#include "core/task.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "policies/policy.hpp"

namespace plumbline {

// Goes to the successor with the smallest value, of equals by the operator with the lowest number. Values
// must not depend on idle variables; no heuristic that estimates the cost of plans does.
class GreedyPolicy final : public KernelPolicy {
 public:
  // Both must outlive this object.
  GreedyPolicy(const CompiledTask& task, Evaluator& value)
      : quotient_(task), value_(value), values_(task.task.domain_sizes.size()) {
    forget();
  }

  std::int32_t decide(const std::int32_t* values) override {
    if (store_->size() >= kMostStates) forget();
    std::copy_n(values, values_.size(), values_.begin());
    quotient_.project(values_.data());
    std::int32_t state = -1;
    store_->add(1, values_.data(), &state);
    const auto place = static_cast<std::size_t>(state);
    if (place >= decided_.size()) decided_.resize(std::max(place + 1, 2 * decided_.size()), kUndecided);
    if (decided_[place] == kUndecided) decided_[place] = choose(state);
    return decided_[place];
  }

  bool overlooks_idle_variables() const override { return true; }

 private:
  static constexpr std::int64_t kMostStates = 1 << 22;
  static constexpr Cost kUnknown = -1;
  static constexpr std::int32_t kUndecided = -9;

  std::int32_t choose(std::int32_t state) {
    std::int64_t begin[2] = {0, 0};
    store_->count_applicable(1, &state, begin);
    operators_.resize(static_cast<std::size_t>(begin[1]));
    store_->applicable(1, &state, operators_.data());
    std::int32_t best = kNoAction;
    Cost smallest = kInfinity;
    for (const std::int32_t op : operators_) {
      std::int32_t successor = -1;
      store_->apply(1, &state, &op, &successor);
      const Cost found = value(successor);
      if (best == kNoAction || found < smallest) {
        best = op;
        smallest = found;
      }
    }
    return best;
  }

  void forget() {
    store_ = std::make_unique<StateStore>(quotient_.compiled());
    known_.clear();
    decided_.clear();
  }

  // Most successors of a state are successors of the next one, too.
  Cost value(std::int32_t state) {
    const auto place = static_cast<std::size_t>(state);
    if (place >= known_.size()) known_.resize(std::max(place + 1, 2 * known_.size()), kUnknown);
    if (known_[place] == kUnknown) {
      store_->values(1, &state, values_.data());
      known_[place] = value_.evaluate(values_.data());
    }
    return known_[place];
  }

  Quotient quotient_;
  Evaluator& value_;
  std::unique_ptr<StateStore> store_;
  std::vector<Cost> known_;            // by state
  std::vector<std::int32_t> decided_;  // likewise: oracles that remember nothing ask again
  std::vector<std::int32_t> operators_;
  std::vector<std::int32_t> values_;
};

// Chooses by a hash of the state: one random number per fact, combined by exclusive or (Zobrist).
class RandomPolicy final : public KernelPolicy {
 public:
  // The task must outlive this object.
  RandomPolicy(const CompiledTask& task, std::vector<std::uint64_t> keys)
      : task_(task), keys_(std::move(keys)), state_(static_cast<std::size_t>(task.packing.n_words())) {}

  std::int32_t decide(const std::int32_t* values) override {
    std::uint64_t drawn = 0;
    for (std::int32_t v = 0; v < task_.task.n_variables(); ++v) {
      drawn ^= keys_[static_cast<std::size_t>(task_.task.fact_number({v, values[v]}))];
    }
    task_.pack(values, state_.data());
    operators_.clear();
    task_.generator.for_each_applicable(state_.data(), [&](std::int32_t begin, std::int32_t end) {
      const auto& order = task_.generator.order();
      operators_.insert(operators_.end(), order.begin() + begin, order.begin() + end);
    });
    if (operators_.empty()) return kNoAction;
    const auto place = operators_.begin() + static_cast<std::ptrdiff_t>(drawn % operators_.size());
    std::nth_element(operators_.begin(), place, operators_.end());
    return *place;
  }

 private:
  const CompiledTask& task_;
  std::vector<std::uint64_t> keys_;  // by fact
  std::vector<Word> state_;
  std::vector<std::int32_t> operators_;
};

}  // namespace plumbline
