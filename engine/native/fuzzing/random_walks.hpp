// A pool of states and the random walks that find them. See docs/theory/fuzzing.md, "Random walks".
//
// Walks without a bias are made here as a whole; a caller with a bias asks for the candidates of each step
// and offers states itself. Either way it is known at once when walks can find no other state: all that can
// be reached from entries were offered. What was found to be so stays so, because the pool only grows.
//
// Limits are checked after some work is done, so that every call makes progress, however little time it has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/state_store.hpp"
#include "fuzzing/novelty_filter.hpp"
#include "fuzzing/python_random.hpp"
#include "fuzzing/relaxed_goal.hpp"
#include "search/search.hpp"

namespace plumbline {

class RandomWalks {
 public:
  struct Candidate {
    std::int32_t op;
    std::int32_t state;
  };

  // The walk's operators begin where those of the entry before end.
  struct Entry {
    std::int32_t state;
    std::int32_t reference;  // the entry where the walk began; -1: the initial state
    std::size_t operators_end;
  };

  struct Statistics {
    std::int64_t offered = 0;  // different states
    std::int64_t walks = 0;
    std::int64_t duplicates = 0;
    std::int64_t filtered = 0;
    std::int64_t failed_walks = 0;
  };

  // The store must outlive this object; `novelty` 0: no filter.
  RandomWalks(StateStore& store, const PythonRandom& random, std::int64_t size, std::int64_t walk_length,
              std::int32_t novelty)
      : store_(store),
        relaxed_goal_(store.task()),
        random_(random),
        size_(static_cast<std::size_t>(size)),
        walk_length_(static_cast<std::size_t>(walk_length)),
        values_(store.task().domain_sizes.size()),
        before_(values_.size()) {
    if (novelty > 0) filter_.emplace(store.task(), novelty);
  }

  const StateStore& store() const { return store_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<std::int32_t>& operators() const { return operators_; }
  const Statistics& statistics() const { return statistics_; }
  bool is_known(std::int32_t state) const { return status(state).offered != kNever; }

  // Adds a state to the pool if it is new there, passes the filter, and there is room; whether it did.
  bool offer(std::int32_t state, std::int32_t reference, std::span<const std::int32_t> operators) {
    if (entries_.size() >= size_) return false;
    Status& own = status(state);
    if (own.offered != kNever) {
      ++(own.offered == kEntry ? statistics_.duplicates : statistics_.filtered);
      return false;
    }
    ++statistics_.offered;
    if (filter_) {
      store_.values(1, &state, values_.data());
      if (!filter_->accept(values_.data())) {
        ++statistics_.filtered;
        own.offered = kFiltered;
        return false;
      }
    }
    own.offered = kEntry;
    operators_.insert(operators_.end(), operators.begin(), operators.end());
    entries_.push_back({state, reference, operators_.size()});
    explore(state, filter_ ? walk_length_ : 1);
    return true;
  }

  // The steps a walk may take: not to goals, nor to states without successors or known dead ends. What was
  // found out before an interruption is known when it is asked again.
  const std::vector<Candidate>& candidates(std::int32_t state, Monitor& monitor) {
    std::int64_t begin[2] = {0, 0};
    store_.count_applicable(1, &state, begin);
    applicable_.resize(static_cast<std::size_t>(begin[1]));
    store_.applicable(1, &state, applicable_.data());
    candidates_.clear();
    const bool is_entered = status(state).verdict == kMayEnter;
    if (is_entered) store_.values(1, &state, before_.data());
    for (const std::int32_t op : applicable_) {
      std::int32_t successor = -1;
      store_.apply(1, &state, &op, &successor);
      if (may_enter(successor, is_entered ? before_.data() : nullptr, monitor))
        candidates_.push_back({op, successor});
    }
    return candidates_;
  }

  const std::vector<Candidate>& counted() const { return candidates_; }

  // Walks until the given number of entries or walks is reached, or there are no other states.
  void grow(std::size_t n_entries, std::int64_t n_walks, Monitor& monitor) {
    while (!entries_.empty() && entries_.size() < std::min(n_entries, size_)) {
      if (!walk_) {
        if (statistics_.walks == n_walks || is_exhausted(monitor)) return;
        begin_walk();
      }
      while (walk_ && walk_->left > 0) step(monitor);
      if (!walk_) continue;
      const Walk walk = *std::exchange(walk_, std::nullopt);
      offer(walk.state, walk.reference, path_);
    }
  }

  // Whether all states that walks can end in were offered.
  bool is_exhausted(Monitor& monitor) {
    for (; first_open_ < open_.size(); ++first_open_, is_looking_ = false, monitor.check()) {
      const Open open = open_[first_open_];
      if (!is_looking_) {
        to_look_at_ = candidates(open.state, monitor);
        is_looking_ = true;
      }
      for (; !to_look_at_.empty(); to_look_at_.pop_back()) {
        const std::int32_t state = to_look_at_.back().state;
        if (!is_known(state)) return false;
        if (open.steps > 1) explore(state, open.steps - 1);
      }
    }
    return true;
  }

 private:
  enum Offered : std::uint8_t { kNever, kFiltered, kEntry };
  enum Verdict : std::uint8_t { kUndecided, kMayEnter, kMustNotEnter };

  struct Status {
    Offered offered = kNever;
    Verdict verdict = kUndecided;
  };

  struct Walk {
    std::int32_t reference;
    std::int32_t state;
    std::size_t left;  // steps
  };

  // All states within this many steps of this one have to be known.
  struct Open {
    std::int32_t state;
    std::size_t steps;
  };

  // A state that is explored again with more steps is explored anew.
  void explore(std::int32_t state, std::size_t steps) {
    const auto number = static_cast<std::size_t>(state);
    if (number >= explored_.size()) explored_.resize(std::max(number + 1, 2 * explored_.size()), 0);
    if (explored_[number] >= steps) return;
    explored_[number] = steps;
    open_.push_back({state, steps});
  }

  void begin_walk() {
    ++statistics_.walks;
    const std::size_t reference = random_.below(entries_.size());
    const std::size_t length = 1 + random_.below(walk_length_);
    walk_ = Walk{static_cast<std::int32_t>(reference), entries_[reference].state, length};
    path_.clear();
  }

  // Draws as Python's `shuffle` and `choices` with equal weights do.
  void step(Monitor& monitor) {
    candidates(walk_->state, monitor);
    random_.shuffle(candidates_);
    if (const std::size_t n = candidates_.size(); n == 0) {
      ++statistics_.failed_walks;
      walk_.reset();
    } else {
      const auto drawn = static_cast<std::size_t>(random_.real() * static_cast<double>(n));
      const Candidate chosen = candidates_[std::min(drawn, n - 1)];
      walk_->state = chosen.state;
      --walk_->left;
      path_.push_back(chosen.op);
    }
    monitor.check();
  }

  // `before` is a state that may be entered, or null.
  bool may_enter(std::int32_t state, const std::int32_t* before, Monitor& monitor) {
    if (const Verdict known = status(state).verdict; known != kUndecided) return known == kMayEnter;
    std::uint8_t is_goal = 0;
    store_.is_goal(1, &state, &is_goal);
    std::int64_t begin[2] = {0, 0};
    store_.count_applicable(1, &state, begin);
    bool may = is_goal == 0 && begin[1] > 0;
    if (may) {
      store_.values(1, &state, values_.data());
      may = relaxed_goal_.is_reachable(values_.data(), before);
    }
    status(state).verdict = may ? kMayEnter : kMustNotEnter;
    monitor.check();
    return may;
  }

  Status status(std::int32_t state) const {
    const auto number = static_cast<std::size_t>(state);
    return number < status_.size() ? status_[number] : Status{};
  }
  Status& status(std::int32_t state) {
    const auto number = static_cast<std::size_t>(state);
    if (number >= status_.size()) status_.resize(std::max(number + 1, 2 * status_.size()));
    return status_[number];
  }

  StateStore& store_;
  RelaxedGoal relaxed_goal_;
  PythonRandom random_;
  std::size_t size_;
  std::size_t walk_length_;
  std::optional<NoveltyFilter> filter_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> operators_;  // of the walks of all entries
  Statistics statistics_;
  std::vector<Status> status_;  // by state
  std::optional<Walk> walk_;    // the unfinished one
  std::vector<std::int32_t> path_;
  std::vector<Open> open_;
  std::size_t first_open_ = 0;
  bool is_looking_ = false;  // at the first open one, from which these can be reached
  std::vector<Candidate> to_look_at_;
  std::vector<std::size_t> explored_;  // by state: within how many steps; 0: not yet
  std::vector<Candidate> candidates_;
  std::vector<std::int32_t> applicable_;
  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> before_;
};

}  // namespace plumbline
