// A policy that decides inside the kernels, one state at a time: neither other states nor what was asked
// before make a difference.
#pragma once

#include <cstdint>

namespace plumbline {

// Answers that are no operators. Whatever else is out of range is a wrong answer.
inline constexpr std::int32_t kNoAction = -1;     // there is nothing to do in this state
inline constexpr std::int32_t kNoOperation = -2;  // an action that the task has no operator for

class KernelPolicy {
 public:
  virtual ~KernelPolicy() = default;
  // An operator, kNoAction or kNoOperation. `values` has one value per variable of the task.
  virtual std::int32_t decide(const std::int32_t* values) = 0;
  // Whether decisions are the same in states that differ in idle variables only (core/quotient.hpp).
  virtual bool overlooks_idle_variables() const { return false; }
};

}  // namespace plumbline
