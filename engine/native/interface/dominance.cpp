// The C interface of the dominance kernels. As in tasks_and_searches.cpp, Python checks sizes and this code
// checks contents.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dominance/closure.hpp"
#include "dominance/fix_point.hpp"
#include "dominance/system.hpp"
#include "interface/guarded.hpp"

using namespace plumbline;

// Arcs of all factors follow each other; `label_groups` has a row of groups by label for each factor.
PLUMBLINE_API Status plumbline_dominance_create(std::int32_t n_factors, const std::int32_t* n_states,
                                                const std::int32_t* n_groups, const std::int64_t* n_arcs,
                                                const std::int32_t* groups, const std::int32_t* sources,
                                                const std::int32_t* targets, std::int32_t n_labels,
                                                const std::int64_t* costs, const std::int32_t* label_groups,
                                                DominanceSystem** result) {
  return guarded([&] {
    auto system = std::make_unique<DominanceSystem>();
    system->costs.assign(costs, costs + n_labels);
    system->costs.push_back(0);
    for (std::int32_t i = 0; i < n_factors; ++i) {
      DominanceFactor factor;
      factor.n_states = n_states[i];
      factor.n_groups = n_groups[i];
      if (factor.n_states < 1 || factor.n_groups < 1) return false;
      if (!factor.fill(n_arcs[i], groups, sources, targets)) return false;
      factor.group_of.assign(label_groups, label_groups + n_labels);
      factor.group_of.push_back(0);
      for (const std::int32_t group : factor.group_of) {
        if (group < 0 || group >= factor.n_groups) return false;
      }
      for (std::int32_t group = 1; group < factor.n_groups; ++group) {
        if (factor.by_group[group].empty()) return false;  // dead labels: docs/theory/pitfalls.md, P5
      }
      groups += n_arcs[i];
      sources += n_arcs[i];
      targets += n_arcs[i];
      label_groups += n_labels;
      system->factors.push_back(std::move(factor));
    }
    system->index_labels();
    *result = system.release();
    return true;
  });
}

PLUMBLINE_API void plumbline_dominance_destroy(DominanceSystem* system) {
  std::unique_ptr<DominanceSystem>{system}.reset();
}

// Lowers `tables` until they are stable; those of an interrupted fix-point are too large and must not be
// used.
PLUMBLINE_API Status plumbline_dominance_fix_point(const DominanceSystem* system, std::int32_t* tables,
                                                   std::int32_t truncation, std::int32_t all_answers,
                                                   const Limits* limits, Progress* progress,
                                                   Outcome* outcome) {
  return guarded([&] {
    if (truncation < 0 || truncation > kRange) return false;
    const Answers answers = all_answers != 0 ? Answers::kAll : Answers::kSameOrNothing;
    Monitor monitor(*limits, progress);
    *outcome = run_limited(monitor, [&] {
      DominanceFixPoint(*system, split_tables(*system, tables), truncation, answers, monitor).run();
      return Outcome::kSolved;
    });
    return true;
  });
}

// Raises `tables` to their R-closure; sound whenever it is interrupted.
PLUMBLINE_API Status plumbline_dominance_closure(const DominanceSystem* system, std::int32_t* tables,
                                                 const std::int32_t* heights, const Limits* limits,
                                                 Progress* progress, Outcome* outcome) {
  return guarded([&] {
    Monitor monitor(*limits, progress);
    *outcome = run_limited(monitor, [&] {
      DominanceClosure(*system, split_tables(*system, tables), heights, monitor).run();
      return Outcome::kSolved;
    });
    return true;
  });
}
