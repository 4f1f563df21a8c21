// The C interface of bounds, and of the oracle that maintains them. As in tasks_and_searches.cpp, Python
// checks sizes and this code checks contents.
#include "oracles/bounds.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/state_store.hpp"
#include "dominance/tables.hpp"
#include "interface/checked_input.hpp"
#include "interface/guarded.hpp"
#include "oracles/bound_maintenance.hpp"
#include "policies/runs.hpp"

namespace {

using namespace plumbline;

bool are_states(const StateStore& store, std::int64_t n, const std::int32_t* states) {
  return std::all_of(states, states + n, [&](std::int32_t state) { return store.has(state); });
}

std::span<const std::int32_t> span_of(std::int64_t n, const std::int32_t* numbers) {
  return {numbers, static_cast<std::size_t>(n)};
}

}  // namespace

// `runs` may be null; otherwise it must be on the same states.
PLUMBLINE_API Status plumbline_bounds_create(StateStore* states, Runs* runs, Bounds** result) {
  return guarded([&] {
    if (runs != nullptr && &runs->graph.store() != states) return false;
    *result = std::make_unique<Bounds>(*states, runs == nullptr ? nullptr : &runs->graph).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_bounds_destroy(Bounds* bounds) { std::unique_ptr<Bounds>{bounds}.reset(); }

// The bounds that rest on operators alone: null until there are others. They belong to the bounds.
PLUMBLINE_API Bounds* plumbline_bounds_plans(Bounds* bounds) { return bounds->plans(); }

// Infinite also if there is no such state.
PLUMBLINE_API std::int64_t plumbline_bounds_u(const Bounds* bounds, std::int32_t state) {
  return bounds->u(state);
}

PLUMBLINE_API Status plumbline_bounds_all(Bounds* bounds, std::int64_t n, const std::int32_t* states,
                                          std::int64_t* values) {
  return guarded([&] {
    if (!are_states(bounds->store(), n, states)) return false;
    std::transform(states, states + n, values, [&](std::int32_t state) { return bounds->u(state); });
    return true;
  });
}

// Those of all states of the table, by their number.
PLUMBLINE_API Status plumbline_bounds_by_state(Bounds* bounds, std::int64_t n, std::int64_t* values) {
  return guarded([&] {
    const std::span<const Cost> all = bounds->all();
    if (n > static_cast<std::int64_t>(all.size())) return false;
    std::copy(all.begin(), all.begin() + n, values);
    return true;
  });
}

// operators[k] leads from states[k] to states[k + 1]; there is one more state.
PLUMBLINE_API Status plumbline_bounds_add_path(Bounds* bounds, std::int64_t n, const std::int32_t* states,
                                               const std::int32_t* operators, std::int32_t origin,
                                               std::int32_t is_registered) {
  return guarded([&] {
    if (!are_states(bounds->store(), n + 1, states)) return false;
    if (!are_operators(bounds->store().task(), n, operators)) return false;
    bounds->add_path(span_of(n + 1, states), span_of(n, operators), origin, is_registered != 0);
    return true;
  });
}

// An operator that is not applicable is a bad argument.
PLUMBLINE_API Status plumbline_bounds_add_plan(Bounds* bounds, std::int32_t state, std::int64_t n,
                                               const std::int32_t* operators, std::int32_t origin) {
  return guarded([&] {
    if (!bounds->store().has(state) || !are_operators(bounds->store().task(), n, operators)) return false;
    return bounds->add_plan(state, span_of(n, operators), origin);
  });
}

PLUMBLINE_API Status plumbline_bounds_add_morph(Bounds* bounds, std::int32_t state, std::int32_t source,
                                                std::int64_t gain, std::int32_t origin) {
  return guarded([&] {
    if (!bounds->store().has(state) || !bounds->store().has(source)) return false;
    bounds->add_morph(state, source, gain, origin);
    return true;
  });
}

// The states whose bounds fell since the last call. If there is not enough room, `count` receives
// how many there are and they are not forgotten.
PLUMBLINE_API Status plumbline_bounds_changed(Bounds* bounds, std::int64_t room, std::int32_t* states,
                                              std::int64_t* count) {
  return guarded([&] {
    const std::vector<std::int32_t>& changed = bounds->changed().states();
    *count = static_cast<std::int64_t>(changed.size());
    if (*count > room) return true;
    std::copy(changed.begin(), changed.end(), states);
    bounds->changed().clear();
    return true;
  });
}

// The steps from a state to a goal: by what, to which state, by which D, and who found it. `count` receives
// how many there are, which is more than the number of states if they run in a circle; there may be less
// room.
PLUMBLINE_API Status plumbline_bounds_chain(Bounds* bounds, std::int32_t state, std::int64_t room,
                                            std::int32_t* vias, std::int32_t* nexts, std::int64_t* gains,
                                            std::int32_t* origins, std::int64_t* count) {
  return guarded([&] {
    if (!bounds->store().has(state) || bounds->u(state) == kInfinity) return false;
    *count = 0;
    while (*count <= bounds->store().size()) {
      const Bounds::Step step = bounds->step(state);
      if (step.via == Bounds::kGoal) return true;
      if (*count < room) {
        *vias++ = step.via;
        *nexts++ = step.next;
        *gains++ = step.gain;
        *origins++ = step.origin;
      }
      ++*count;
      state = step.next;
    }
    return true;
  });
}

PLUMBLINE_API Status plumbline_maintenance_create(const DominanceTables* tables, Bounds* bounds,
                                                  std::int32_t origin, BoundMaintenance** result) {
  return guarded([&] {
    *result = std::make_unique<BoundMaintenance>(*tables, *bounds, origin).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_maintenance_destroy(BoundMaintenance* maintenance) {
  std::unique_ptr<BoundMaintenance>{maintenance}.reset();
}

// Compares new states with all that were compared before, and lowers their bounds.
PLUMBLINE_API Status plumbline_maintenance_compare(BoundMaintenance* maintenance, std::int64_t n,
                                                   const std::int32_t* states) {
  return guarded([&] { return maintenance->compare(span_of(n, states)); });
}

// The best bound that compared states imply for each of these: from which state (-1: none), with which D.
PLUMBLINE_API Status plumbline_maintenance_infer(BoundMaintenance* maintenance, std::int64_t n,
                                                 const std::int32_t* states, std::int32_t* sources,
                                                 std::int64_t* gains, std::int64_t* bounds) {
  return guarded([&] {
    for (std::int64_t k = 0; k < n; ++k) {
      Inference best;
      if (!maintenance->infer(states[k], best)) return false;
      sources[k] = best.source;
      gains[k] = best.gain;
      bounds[k] = best.bound;
    }
    return true;
  });
}
