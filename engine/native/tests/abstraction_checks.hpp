// Heuristics that are built for one state, on random tasks whose h* is known wherever that leads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "abstractions/cartesian.hpp"
#include "abstractions/merge_and_shrink.hpp"
#include "core/compiled_task.hpp"
#include "core/state_store.hpp"
#include "search/search.hpp"
#include "tests/random_task.hpp"

namespace plumbline::testing {

// `costs` has h* of every state in the store, which are those that can be reached from the start.
inline void check_abstractions(const CompiledTask& compiled, const State& start, StateStore& store,
                               const std::vector<Cost>& costs) {
  const SearchRequest request{compiled, start, compiled.task.goal};
  Progress progress{};
  Monitor monitor(Limits{0, 0, std::size_t{1} << 40}, &progress);
  const auto check = [&](const auto& heuristic, bool is_exact) {
    State values(start.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      CHECK(store.values(1, &id, values.data()));
      const Cost h = heuristic(values.data());
      CHECK(h >= 0 && h <= costs[i] && (!is_exact || h == costs[i]));
    }
  };
  check(Cartesian(request, monitor), false);
  check(Cartesian(request, monitor, {.max_transitions = 8}), false);
  check(MergeAndShrink(request, monitor), true);
  check(MergeAndShrink(request, monitor, {.max_states = 4}), false);
  check(MergeAndShrink(request, monitor, {.max_transitions = 20}), false);
}

}  // namespace plumbline::testing
