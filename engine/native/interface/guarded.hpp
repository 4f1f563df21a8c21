// What every function of the C interface does: no exception leaves, and limits are answers, not errors.
#pragma once

#include <cstdint>
#include <new>

#include "core/memory.hpp"
#include "interface/abi.hpp"
#include "search/search.hpp"

#define PLUMBLINE_API extern "C" __attribute__((visibility("default")))

namespace plumbline {

template <class Body>
Status guarded(Body&& body) {
  try {
    return body() ? Status::kDone : Status::kBadArgument;
  } catch (const std::bad_alloc&) {
    return Status::kOutOfMemory;
  } catch (...) {
    return Status::kDefect;
  }
}

// Does the work and says how it ended.
template <class Work>
Outcome run_limited(Monitor& monitor, Work&& work) {
  Outcome outcome = Outcome::kFailed;
  try {
    outcome = work();
  } catch (const Interrupted& interrupted) {
    outcome = interrupted.outcome;
  } catch (const MemoryLimitReached&) {
    outcome = Outcome::kMemoryLimit;
  } catch (const std::bad_alloc&) {
    outcome = Outcome::kMemoryLimit;
  }
  monitor.publish();
  return outcome;
}

}  // namespace plumbline
