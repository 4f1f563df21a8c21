// What all searches share: the question, the answer, the limits, and the progress that others watch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/memory.hpp"
#include "core/task.hpp"
#include "interface/abi.hpp"

namespace plumbline {

// Operators are refused beyond this, so that a sum over a path (less than 2^31 states) never overflows.
inline constexpr Cost kMaxOperatorCost = Cost{1} << 32;

// What AOCA* is asked about: the first step of plans from the start.
struct ActionQuestion {
  std::vector<std::int32_t> successor;  // the state it leads to
  Cost cost;
  bool is_solvable;            // that the start has a plan is known
  Cost plan_cost = kInfinity;  // of a plan from the start, if one is known
};

struct SearchRequest {
  const CompiledTask& compiled;
  std::vector<std::int32_t> start;
  std::vector<Fact> goal;
  Cost bound = kInfinity;     // only plans cheaper than this are wanted
  bool is_admissible = true;  // the heuristic: otherwise its values prove nothing but dead ends
  std::optional<ActionQuestion> action = std::nullopt;  // for AOCA* only
};

struct SearchResult {
  Outcome outcome = Outcome::kFailed;
  Cost cost = kInfinity;
  Cost lower_bound = 0;            // of the cost of any plan, as far as the algorithm proves one
  std::vector<std::int32_t> plan;  // operators of the task
};

// Thrown by Monitor when the search has to end without an answer.
struct Interrupted {
  Outcome outcome;
};

// Counts what the search does, publishes it, and ends the search at its limits.
class Monitor {
 public:
  Monitor(const Limits& limits, Progress* shared)
      : account_(limits.bytes), limits_(limits), shared_(shared), start_(Clock::now()) {}

  MemoryAccount& account() { return account_; }
  std::int64_t expanded = 0;
  std::int64_t evaluated = 0;
  std::int64_t generated = 0;
  std::int64_t best = 0;

  // Counting starts again, the clock runs on.
  void start_again() { expanded = evaluated = generated = best = 0; }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // To be called every few microseconds at least; looks at the clock every time.
  void check() {
    publish();
    if (std::atomic_ref(shared_->cancel).load(std::memory_order_relaxed) != 0)
      throw Interrupted{Outcome::kCancelled};
    if (limits_.seconds > 0 && seconds() >= limits_.seconds) throw Interrupted{Outcome::kTimeLimit};
  }

  // Before an expansion.
  void check_expansions() const {
    if (limits_.expansions > 0 && expanded >= limits_.expansions) throw Interrupted{Outcome::kExpansionLimit};
  }

  void publish() {
    store(shared_->expanded, expanded);
    store(shared_->evaluated, evaluated);
    store(shared_->generated, generated);
    store(shared_->best, best);
    store(shared_->bytes, static_cast<std::int64_t>(account_.peak()));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static void store(std::int64_t& place, std::int64_t value) {
    std::atomic_ref(place).store(value, std::memory_order_relaxed);
  }

  MemoryAccount account_;
  Limits limits_;
  Progress* shared_;
  Clock::time_point start_;
};

// Sums stay below the sentinel.
inline Cost saturating_add(Cost a, Cost b) {
  Cost sum = 0;
  return __builtin_add_overflow(a, b, &sum) || sum == kInfinity ? kInfinity - 1 : sum;
}

}  // namespace plumbline
