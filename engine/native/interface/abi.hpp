// What the kernels share with Python besides arrays: enumerations and structs. engine/native/library.py
// mirrors them, and tests/native/test_library.py compares both sides. After a change, raise kAbiVersion on
// both.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumbline {

inline constexpr std::int32_t kAbiVersion = 7;

// What every function of the interface returns.
enum class Status : std::int32_t {
  kDone = 0,
  kOutOfMemory = 1,
  kBadArgument = 2,
  kDefect = 3,
};

// How a kernel with limits ended.
enum class Outcome : std::int64_t {
  kSolved = 0,
  kUnsolvable = 1,     // proved: there is no plan
  kNoCheaperPlan = 2,  // proved: there is no plan below the bound
  kFailed = 3,         // the algorithm is incomplete and gave up; nothing is proved
  kTimeLimit = 4,
  kMemoryLimit = 5,
  kExpansionLimit = 6,
  kCancelled = 7,
  kActionOptimal = 8,  // AOCA*: an optimal plan starts with the action it was asked about
  kActionNotOptimal = 9,
};

enum class Algorithm : std::int32_t {
  kAstar = 0,
  kGreedyBestFirst = 1,
  kEnforcedHillClimbing = 2,
  kAocaStar = 3,
};

// Instead of the number of a heuristic: a table with the value of every state of a small task.
inline constexpr std::int32_t kTableHeuristic = -1;

struct Limits {
  double seconds;           // 0: none
  std::int64_t expansions;  // 0: none
  std::uint64_t bytes;
};
static_assert(sizeof(Limits) == 24);

// Written by the kernel and read by others at any time, except `cancel`, which others write.
struct Progress {
  std::int64_t cancel;
  std::int64_t expanded;
  std::int64_t evaluated;
  std::int64_t generated;
  std::int64_t best;  // lower bound of the plan cost (A*) or smallest heuristic value (greedy searches)
  std::int64_t bytes;
};
static_assert(sizeof(Progress) == 48);

struct SearchAnswer {
  Outcome outcome;
  std::int64_t cost;
  std::int64_t lower_bound;  // of the cost of any plan, as far as the algorithm proves one
  std::int64_t plan_length;
};
static_assert(sizeof(SearchAnswer) == 32);

// The size of a heuristic that was built for one state.
struct AbstractionSize {
  std::int64_t abstractions;
  std::int64_t states;
  std::int64_t transitions;
};
static_assert(sizeof(AbstractionSize) == 24);

// Which operators of an action schema network are pooled where: a fact of block b has slots[b] pools, and
// pool i, counted block by block and fact by fact, is the maximum over the operators members[begin[i]] up to
// members[begin[i + 1]].
struct PoolIndex {
  std::int64_t n_blocks;
  const std::int64_t* facts;
  const std::int64_t* slots;
  const std::int64_t* begin;
  const std::int64_t* members;
};
static_assert(sizeof(PoolIndex) == 40);

}  // namespace plumbline
