// What the kernels share with Python besides arrays: enumerations and structs. engine/native/library.py
// mirrors them, and tests/native/test_library.py compares both sides. After a change, raise kAbiVersion on
// both.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumbline {

inline constexpr std::int32_t kAbiVersion = 11;

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

// What a task has beyond preconditions and effects; null pointers where it has none of it. Conditional
// effects lie in rows by operator, each with a fact (variable, value) and a row of conditions; derived
// variables have a layer of at least 0, and rules a head and a row of facts.
struct LaterParts {
  std::int64_t n_conditional;
  const std::int32_t* conditional_begin;  // by operator
  const std::int32_t* conditional_facts;
  const std::int32_t* condition_begin;  // by conditional effect
  const std::int32_t* conditions;
  const std::int32_t* layer;          // by variable
  const std::int32_t* default_value;  // by variable
  std::int64_t n_rules;
  const std::int32_t* heads;
  const std::int32_t* body_begin;  // by rule
  const std::int32_t* bodies;
};
static_assert(sizeof(LaterParts) == 88);

}  // namespace plumbline
