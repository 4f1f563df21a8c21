// A short greedy search that visits a given number of states, for the bound-maintenance oracle (Eisenhut et
// al. 2023). See docs/theory/oracles.md, "Bound maintenance".
//
// The state with the smallest heuristic value is visited next, of equals the one seen first; dead ends are
// not visited. Nothing is reopened, and goals do not end the search. Values are kept for later searches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/state_store.hpp"
#include "heuristics/heuristic_kernels.hpp"

namespace plumbline {

class Lookahead {
 public:
  // By what step a state was reached: the row of the state before (-1: none), the operator, the cost of all
  // steps.
  struct Visit {
    std::int32_t state;
    std::int32_t before;
    std::int32_t op;
    Cost cost;
  };

  // The store must outlive this object.
  Lookahead(StateStore& store, std::unique_ptr<Evaluator> heuristic)
      : store_(store), heuristic_(std::move(heuristic)), values_(store.task().domain_sizes.size()) {}

  bool begin(std::int32_t start) {
    if (!store_.has(start)) return false;
    visits_.clear();
    open_.clear();
    pushed_ = 0;
    ++search_;
    push(0, {start, -1, -1, 0});
    return true;
  }

  // Visits states until their total reaches the given number, or no more are left.
  void resume(std::int64_t size) {
    while (!open_.empty() && static_cast<std::int64_t>(visits_.size()) < size) {
      std::pop_heap(open_.begin(), open_.end(), is_later);
      const Visit visit = open_.back().visit;
      open_.pop_back();
      if (is_visited(visit.state)) continue;
      visited_in_[static_cast<std::size_t>(visit.state)] = search_;
      visits_.push_back(visit);
      expand(visit, static_cast<std::int32_t>(visits_.size()) - 1);
    }
  }

  const std::vector<Visit>& visits() const { return visits_; }

 private:
  struct Entry {
    Cost h;
    std::int64_t number;
    Visit visit;
  };

  static constexpr Cost kUnknown = -1;

  static bool is_later(const Entry& a, const Entry& b) {
    return a.h != b.h ? a.h > b.h : a.number > b.number;
  }

  bool is_visited(std::int32_t state) {
    grow();
    return visited_in_[static_cast<std::size_t>(state)] == search_;
  }

  void expand(const Visit& visit, std::int32_t row) {
    std::int64_t begin[2] = {0, 0};
    store_.count_applicable(1, &visit.state, begin);
    operators_.resize(static_cast<std::size_t>(begin[1]));
    store_.applicable(1, &visit.state, operators_.data());
    for (const std::int32_t op : operators_) {
      std::int32_t successor = -1;
      store_.apply(1, &visit.state, &op, &successor);
      if (is_visited(successor)) continue;
      const Cost h = evaluate(successor);
      const Cost cost = visit.cost + store_.task().costs[static_cast<std::size_t>(op)];
      if (h != kInfinity) push(h, {successor, row, op, cost});
    }
  }

  void push(Cost h, const Visit& visit) {
    open_.push_back({h, pushed_++, visit});
    std::push_heap(open_.begin(), open_.end(), is_later);
  }

  Cost evaluate(std::int32_t state) {
    Cost& h = h_[static_cast<std::size_t>(state)];
    if (h == kUnknown) {
      store_.values(1, &state, values_.data());
      h = heuristic_->evaluate(values_.data());
    }
    return h;
  }

  void grow() {
    const auto size = static_cast<std::size_t>(store_.size());
    if (size <= h_.size()) return;
    h_.resize(std::max(size, 2 * h_.size()), kUnknown);
    visited_in_.resize(h_.size(), 0);
  }

  StateStore& store_;
  std::unique_ptr<Evaluator> heuristic_;
  std::vector<Visit> visits_;
  std::vector<Entry> open_;  // a heap
  std::int64_t pushed_ = 0;
  std::vector<Cost> h_;                    // by state
  std::vector<std::uint64_t> visited_in_;  // by state: the last search that visited it
  std::uint64_t search_ = 0;
  std::vector<std::int32_t> operators_;
  std::vector<std::int32_t> values_;
};

}  // namespace plumbline
