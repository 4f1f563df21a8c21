// The C interface of what oracles ask often: dominance values, short look-ahead searches, first steps, and
// where these prove nothing. As in tasks_and_searches.cpp, Python checks sizes and this code checks contents.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/state_store.hpp"
#include "dominance/tables.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "heuristics/hff.hpp"
#include "interface/guarded.hpp"
#include "oracles/lookahead_screen.hpp"
#include "policies/runs.hpp"
#include "search/first_steps.hpp"
#include "search/lookahead.hpp"

namespace {

using namespace plumbline;

bool all_known(const DominanceTables& tables, std::int64_t n, const std::int32_t* ids) {
  for (std::int64_t k = 0; k < n; ++k, ids += tables.n_factors()) {
    if (!tables.has(ids)) return false;
  }
  return true;
}

}  // namespace

// Squares and lookups of all factors follow each other, as do the variables of all factors; they must stay
// where they are as long as the result lives.
PLUMBLINE_API Status plumbline_tables_create(std::int32_t n_factors, const std::int32_t* n_states,
                                             const std::int32_t* squares, const std::int32_t* n_variables,
                                             const std::int32_t* variables, const std::int32_t* domain_sizes,
                                             const std::int64_t* lookup_sizes, const std::int32_t* lookups,
                                             DominanceTables** result) {
  return guarded([&] {
    auto tables = std::make_unique<DominanceTables>();
    for (std::int32_t i = 0; i < n_factors; ++i) {
      std::vector<DominanceTables::Variable> own;
      for (std::int32_t v = 0; v < n_variables[i]; ++v) own.push_back({*variables++, *domain_sizes++});
      if (n_states[i] < 0) return false;
      if (!tables->add_factor(n_states[i], squares, std::move(own), lookup_sizes[i], lookups)) return false;
      squares += static_cast<std::int64_t>(n_states[i]) * n_states[i];
      lookups += lookup_sizes[i];
    }
    *result = tables.release();
    return true;
  });
}

PLUMBLINE_API void plumbline_tables_destroy(DominanceTables* tables) {
  std::unique_ptr<DominanceTables>{tables}.reset();
}

// The factor states of states given by values, one row each.
PLUMBLINE_API Status plumbline_tables_find(const DominanceTables* tables, std::int64_t n,
                                           std::int32_t n_variables, const std::int32_t* values,
                                           std::int32_t* ids) {
  return guarded([&] {
    for (std::int64_t k = 0; k < n; ++k, values += n_variables, ids += tables->n_factors()) {
      if (!tables->find(n_variables, values, ids)) return false;
    }
    return true;
  });
}

// D(s, t) of all pairs of states given by factor states.
PLUMBLINE_API Status plumbline_tables_values(const DominanceTables* tables, std::int64_t n_sources,
                                             const std::int32_t* sources, std::int64_t n_targets,
                                             const std::int32_t* targets, std::int64_t* values) {
  return guarded([&] {
    if (!all_known(*tables, n_sources, sources) || !all_known(*tables, n_targets, targets)) return false;
    for (std::int64_t s = 0; s < n_sources; ++s, sources += tables->n_factors()) {
      const std::int32_t* target = targets;
      for (std::int64_t t = 0; t < n_targets; ++t, target += tables->n_factors()) {
        *values++ = tables->value(sources, target);
      }
    }
    return true;
  });
}

PLUMBLINE_API Status plumbline_lookahead_create(StateStore* states, Lookahead** result) {
  return guarded([&] {
    *result =
        std::make_unique<Lookahead>(*states, std::make_unique<EvaluatorOf<HFF>>(states->task())).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_lookahead_destroy(Lookahead* lookahead) {
  std::unique_ptr<Lookahead>{lookahead}.reset();
}

PLUMBLINE_API Status plumbline_lookahead_begin(Lookahead* lookahead, std::int32_t start) {
  return guarded([&] { return lookahead->begin(start); });
}

// Continues until the given number of states is visited; `n_visited` receives how many there are.
PLUMBLINE_API Status plumbline_lookahead_resume(Lookahead* lookahead, std::int64_t size,
                                                std::int64_t* n_visited) {
  return guarded([&] {
    lookahead->resume(size);
    *n_visited = static_cast<std::int64_t>(lookahead->visits().size());
    return true;
  });
}

// All visited states in order: which, at what cost, from which row (-1: the start), by which operator.
PLUMBLINE_API Status plumbline_lookahead_visits(const Lookahead* lookahead, std::int32_t* states,
                                                std::int64_t* costs, std::int32_t* before,
                                                std::int32_t* operators) {
  return guarded([&] {
    for (const Lookahead::Visit& visit : lookahead->visits()) {
      *states++ = visit.state;
      *costs++ = visit.cost;
      *before++ = visit.before;
      *operators++ = visit.op;
    }
    return true;
  });
}

PLUMBLINE_API Status plumbline_first_steps_create(StateStore* states, FirstSteps** result) {
  return guarded([&] {
    *result = std::make_unique<FirstSteps>(*states).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_first_steps_destroy(FirstSteps* steps) {
  std::unique_ptr<FirstSteps>{steps}.reset();
}

PLUMBLINE_API Status plumbline_first_steps_begin(FirstSteps* steps, std::int32_t start) {
  return guarded([&] {
    if (!steps->store().has(start)) return false;
    steps->begin(start);
    return true;
  });
}

// One more level. `answer` receives the number of its states, the row of its cheapest goal (-1: none) and the
// cost of the way to that.
PLUMBLINE_API Status plumbline_first_steps_extend(FirstSteps* steps, std::int64_t* answer) {
  return guarded([&] {
    if (steps->levels().empty()) return false;
    steps->extend();
    const FirstSteps::Level& level = steps->levels().back();
    const std::int64_t goal = steps->goal();
    answer[0] = static_cast<std::int64_t>(level.size());
    answer[1] = goal;
    answer[2] = goal < 0 ? 0 : level[static_cast<std::size_t>(goal)].cost;
    return true;
  });
}

// The states of the last level, ascending, with the costs of the cheapest ways to them.
PLUMBLINE_API Status plumbline_first_steps_level(const FirstSteps* steps, std::int32_t* states,
                                                 std::int64_t* costs) {
  return guarded([&] {
    if (steps->levels().empty()) return false;
    for (const FirstSteps::Place& place : steps->levels().back()) {
      *states++ = place.state;
      *costs++ = place.cost;
    }
    return true;
  });
}

// The way to a row of a level: as many operators as the number of the level, and one more state.
PLUMBLINE_API Status plumbline_first_steps_way(const FirstSteps* steps, std::int32_t level, std::int64_t row,
                                               std::int32_t* states, std::int32_t* operators) {
  return guarded([&] {
    const std::vector<FirstSteps::Level>& levels = steps->levels();
    if (level < 0 || static_cast<std::size_t>(level) >= levels.size() || row < 0) return false;
    if (static_cast<std::size_t>(row) >= levels[static_cast<std::size_t>(level)].size()) return false;
    steps->way(static_cast<std::size_t>(level), row, states, operators);
    return true;
  });
}

// Both must outlive the result.
PLUMBLINE_API Status plumbline_screen_create(const CompiledTask* task, KernelPolicy* policy,
                                             LookaheadScreen** result) {
  return guarded([&] {
    *result = std::make_unique<LookaheadScreen>(*task, *policy).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_screen_destroy(LookaheadScreen* screen) {
  std::unique_ptr<LookaheadScreen>{screen}.reset();
}

// A question about a state of a table of the same task.
PLUMBLINE_API Status plumbline_screen_begin(LookaheadScreen* screen, StateStore* states, std::int32_t state,
                                            std::int32_t depth, std::int64_t limit) {
  return guarded([&] { return depth >= 1 && screen->begin(*states, state, depth, limit); });
}

// `answer` receives what is known of the last question, and how often the policy was asked since the
// beginning.
PLUMBLINE_API Status plumbline_screen_resume(LookaheadScreen* screen, std::int64_t max_steps, double seconds,
                                             std::int64_t* answer) {
  return guarded([&] {
    answer[0] = static_cast<std::int64_t>(screen->resume(max_steps, Slice(seconds)));
    answer[1] = screen->asked();
    return true;
  });
}

// The proof for the state of the last question, which is one of these runs, as is the reference (-1: none).
PLUMBLINE_API Status plumbline_screen_begin_proof(LookaheadScreen* screen, Runs* runs, std::int32_t state,
                                                  std::int32_t reference) {
  return guarded([&] {
    if (!runs->has(1, &state) || (reference >= 0 && !runs->has(1, &reference))) return false;
    return screen->begin_proof(runs->graph, state, reference);
  });
}

// Continues the proof. `answer` receives whether it is over, how often the policy was asked since the
// beginning, the cost of the best plan that was found, the bound of the state, and how many states were
// touched.
PLUMBLINE_API Status plumbline_screen_prove(LookaheadScreen* screen, std::int64_t max_steps, double seconds,
                                            std::int64_t* answer) {
  return guarded([&] {
    LookaheadProof* const proof = screen->proof();
    if (proof == nullptr) return false;
    answer[0] = screen->prove(max_steps, Slice(seconds)) ? 1 : 0;
    answer[1] = screen->asked();
    answer[2] = proof->best();
    answer[3] = proof->bound();
    answer[4] = proof->size();
    return true;
  });
}

// The steps that prove the bound of the state: which operators, and who found them; `count` receives how many
// there are, of which there is room for some.
PLUMBLINE_API Status plumbline_screen_chain(LookaheadScreen* screen, std::int64_t room, std::int32_t* vias,
                                            std::int32_t* origins, std::int64_t* count) {
  return guarded([&] {
    LookaheadProof* const proof = screen->proof();
    if (proof == nullptr || proof->bound() == kInfinity) return false;
    const std::vector<Bounds::Step> chain = proof->chain();
    *count = static_cast<std::int64_t>(chain.size());
    for (const Bounds::Step& step : chain) {
      if (room-- <= 0) break;
      *vias++ = step.via;
      *origins++ = step.origin;
    }
    return true;
  });
}
