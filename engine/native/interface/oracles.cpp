// The C interface of what oracles ask often: dominance values, comparisons by them, short look-ahead
// searches. As in tasks_and_searches.cpp, Python checks sizes and this code checks contents.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/state_store.hpp"
#include "dominance/comparison.hpp"
#include "dominance/tables.hpp"
#include "heuristics/heuristic_kernels.hpp"
#include "heuristics/hff.hpp"
#include "interface/guarded.hpp"
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

PLUMBLINE_API Status plumbline_comparison_create(const DominanceTables* tables,
                                                 DominanceComparison** result) {
  return guarded([&] {
    *result = std::make_unique<DominanceComparison>(*tables).release();
    return true;
  });
}

PLUMBLINE_API void plumbline_comparison_destroy(DominanceComparison* comparison) {
  std::unique_ptr<DominanceComparison>{comparison}.reset();
}

// One more known state; `source` (-1: none) and `gain` receive the best bound that the others imply for it.
PLUMBLINE_API Status plumbline_comparison_add(DominanceComparison* comparison, std::int64_t n_bounds,
                                              const std::int64_t* bounds, std::int32_t state,
                                              const std::int32_t* ids, std::int32_t* source,
                                              std::int64_t* gain) {
  return guarded([&] {
    if (!comparison->fits(n_bounds) || state < 0 || !comparison->tables().has(ids)) return false;
    Inference best;
    comparison->infer({bounds, static_cast<std::size_t>(n_bounds)}, 1, ids, &best);
    comparison->add(state, ids);
    *source = best.source;
    *gain = best.gain;
    return true;
  });
}

// The best bound that known states imply for each of these: from which state (-1: none), with which D.
PLUMBLINE_API Status plumbline_comparison_infer(const DominanceComparison* comparison, std::int64_t n_bounds,
                                                const std::int64_t* bounds, std::int64_t n,
                                                const std::int32_t* ids, std::int32_t* sources,
                                                std::int64_t* gains) {
  return guarded([&] {
    if (!comparison->fits(n_bounds) || !all_known(comparison->tables(), n, ids)) return false;
    std::vector<Inference> best(static_cast<std::size_t>(n));
    comparison->infer({bounds, static_cast<std::size_t>(n_bounds)}, n, ids, best.data());
    for (const Inference& inference : best) {
      *sources++ = inference.source;
      *gains++ = inference.gain;
    }
    return true;
  });
}

// `states` and `gains` have room for all known states. `answer` receives how many bounds the source improves
// and its number, -1 if no known state has anything to tell.
PLUMBLINE_API Status plumbline_comparison_tell(DominanceComparison* comparison, std::int64_t n_bounds,
                                               const std::int64_t* bounds, std::int32_t* states,
                                               std::int64_t* gains, std::int64_t* answer) {
  return guarded([&] {
    if (!comparison->fits(n_bounds)) return false;
    const std::int32_t* const first = states;
    answer[1] = comparison->tell({bounds, static_cast<std::size_t>(n_bounds)},
                                 [&](std::int32_t state, std::int64_t gain) {
                                   *states++ = state;
                                   *gains++ = gain;
                                 });
    answer[0] = states - first;
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

// Searches on until so many states are visited; `n_visited` receives how many there are.
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
