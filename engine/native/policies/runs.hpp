// A run graph as Python holds it, with what it asks for in several calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/state_store.hpp"
#include "policies/run_graph.hpp"

namespace plumbline {

struct Runs {
  explicit Runs(StateStore& store) : graph(store) {}

  RunGraph graph;
  RunGraph::LockStep together;
  std::vector<std::int32_t> missing;  // states without an answer, after a call that needs some

  bool has(std::int64_t n, const std::int32_t* states) {
    return std::all_of(states, states + n, [this](std::int32_t state) { return graph.store().has(state); });
  }

  // Whether the call is over, how many answers are missing, and, since the beginning, how often policies of
  // the kernels were asked and how many answers were not applicable.
  void count(bool is_over, std::int64_t* counts) const {
    counts[0] = is_over ? 1 : 0;
    counts[1] = static_cast<std::int64_t>(missing.size());
    counts[2] = graph.asked();
    counts[3] = graph.inapplicable();
  }
};

}  // namespace plumbline
