// The kernels of dominance functions and of the oracles that use them, on random tasks whose h* is known
// everywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/state_store.hpp"
#include "dominance/closure.hpp"
#include "dominance/comparison.hpp"
#include "dominance/fix_point.hpp"
#include "dominance/system.hpp"
#include "dominance/tables.hpp"
#include "heuristics/hff.hpp"
#include "search/lookahead.hpp"
#include "tests/random_task.hpp"

namespace plumbline::testing {

// Every value of a variable leads to the next one, so that within a factor nothing is out of reach or dead.
inline Task connected_task(Random& random) {
  Task task = random_task(random, 0);
  const std::int32_t n_operators = std::min(task.n_operators(), 12);
  task.preconditions.begin.resize(static_cast<std::size_t>(n_operators) + 1);
  task.preconditions.facts.resize(static_cast<std::size_t>(task.preconditions.begin.back()));
  task.effects.begin.resize(static_cast<std::size_t>(n_operators) + 1);
  task.effects.facts.resize(static_cast<std::size_t>(task.effects.begin.back()));
  task.costs.resize(static_cast<std::size_t>(n_operators));
  for (Cost& cost : task.costs) cost = cost % 6;
  for (std::int32_t v = 0; v < task.n_variables(); ++v) {
    const std::int32_t size = task.domain_sizes[static_cast<std::size_t>(v)];
    for (std::int32_t x = 0; x < size; ++x) {
      std::map<std::int32_t, std::int32_t> needed{{v, x}};
      const std::int32_t other = random.below(task.n_variables());
      if (other != v) needed[other] = random.below(task.domain_sizes[static_cast<std::size_t>(other)]);
      add_row(task.preconditions, needed);
      add_row(task.effects, {{v, (x + 1) % size}});
      task.costs.push_back(random.below(3));
    }
  }
  return task;
}

// All states, numbered such that the last variable counts fastest.
struct WholeSpace {
  StateStore store;
  std::vector<State> states;
  std::vector<Cost> hstar;

  explicit WholeSpace(const CompiledTask& compiled) : store(compiled) {
    State state(compiled.task.domain_sizes.size(), 0);
    while (true) {
      std::int32_t id = -1;
      CHECK(store.add(1, state.data(), &id) && id == static_cast<std::int32_t>(states.size()));
      states.push_back(state);
      std::size_t v = state.size();
      while (v > 0 && ++state[v - 1] == compiled.task.domain_sizes[v - 1]) state[--v] = 0;
      if (v == 0) break;
    }
    Progress progress{};
    Monitor monitor({0.0, 0, ~std::uint64_t{0}}, &progress);
    hstar = store.optimal_costs(compiled.task.goal, monitor);
  }
};

// One factor per variable, one group per label that is relevant there.
struct AtomicSystem {
  DominanceSystem system;
  std::vector<std::int32_t> heights;
  std::vector<Value> tables;  // what (B) and (G) allow

  explicit AtomicSystem(const Task& task) {
    system.costs = task.costs;
    system.costs.push_back(0);
    for (std::int32_t v = 0; v < task.n_variables(); ++v) add_factor(task, v);
    system.index_labels();
  }

 private:
  void add_factor(const Task& task, std::int32_t v) {
    const std::int32_t n = task.domain_sizes[static_cast<std::size_t>(v)];
    DominanceFactor factor;
    factor.n_states = n;
    std::vector<std::int32_t> groups, sources, targets;
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      const std::int32_t before = value_of(task.preconditions[op], v);
      const std::int32_t after = value_of(task.effects[op], v);
      const bool is_relevant = n > 1 && (before >= 0 || after >= 0);
      factor.group_of.push_back(is_relevant ? factor.n_groups++ : 0);
      for (std::int32_t x = 0; is_relevant && x < n; ++x) {
        if (before >= 0 && x != before) continue;
        groups.push_back(factor.group_of.back());
        sources.push_back(x);
        targets.push_back(after >= 0 ? after : x);
      }
    }
    factor.group_of.push_back(0);
    CHECK(
        factor.fill(static_cast<std::int64_t>(groups.size()), groups.data(), sources.data(), targets.data()));
    const std::int32_t wanted = value_of(task.goal, v);
    std::vector<std::int32_t> h(static_cast<std::size_t>(n), 1 << 20);
    for (std::int32_t x = 0; x < n; ++x)
      h[static_cast<std::size_t>(x)] = wanted < 0 || x == wanted ? 0 : 1 << 20;
    for (std::int32_t round = 0; round < n; ++round) {
      for (std::size_t a = 0; a < groups.size(); ++a) {
        const auto label = std::find(factor.group_of.begin(), factor.group_of.end(), groups[a]);
        const Cost cost = task.costs[static_cast<std::size_t>(label - factor.group_of.begin())];
        std::int32_t& here = h[static_cast<std::size_t>(sources[a])];
        here = std::min(here, h[static_cast<std::size_t>(targets[a])] + static_cast<std::int32_t>(cost));
      }
    }
    for (std::int32_t s = 0; s < n; ++s) {
      for (std::int32_t t = 0; t < n; ++t) {
        const bool is_refuted = wanted >= 0 && s == wanted && t != wanted;
        tables.push_back(s == t       ? 0
                         : is_refuted ? kNoValue
                                      : h[static_cast<std::size_t>(s)] - h[static_cast<std::size_t>(t)]);
      }
    }
    heights.insert(heights.end(), h.begin(), h.end());
    system.factors.push_back(std::move(factor));
  }

  static std::int32_t value_of(std::span<const Fact> facts, std::int32_t variable) {
    for (const Fact fact : facts) {
      if (fact.variable == variable) return fact.value;
    }
    return -1;
  }
};

// Tables over single variables, whose states are their values.
struct ValueTables {
  std::vector<std::vector<std::int32_t>> lookups;
  DominanceTables function;

  ValueTables(const Task& task, const std::vector<Value>& tables) {
    const Value* table = tables.data();
    for (std::int32_t v = 0; v < task.n_variables(); ++v) {
      const std::int32_t n = task.domain_sizes[static_cast<std::size_t>(v)];
      std::vector<std::int32_t> lookup(static_cast<std::size_t>(n));
      std::iota(lookup.begin(), lookup.end(), 0);
      lookups.push_back(std::move(lookup));
      CHECK(function.add_factor(n, table, {{v, n}}, n, lookups.back().data()));
      CHECK(!DominanceTables{}.add_factor(n - 1, table, {{v, n}}, n, lookups.back().data()));
      CHECK(!DominanceTables{}.add_factor(n, table, {{v, n}}, n + 1, lookups.back().data()));
      table += n * n;
    }
  }
};

// D(s, t) <= h*(s) - h*(t) wherever s can be solved; how many pairs have a value.
inline std::int64_t check_values(const DominanceTables& function, const WholeSpace& space) {
  std::int64_t n_values = 0;
  State ids(function.n_factors());
  const auto n_variables = static_cast<std::int32_t>(ids.size());
  for (std::size_t s = 0; s < space.states.size(); ++s) {
    CHECK(function.find(n_variables, space.states[s].data(), ids.data()) && ids == space.states[s]);
    CHECK(function.has(ids.data()) && function.value(ids.data(), ids.data()) == 0);
    if (space.hstar[s] == kInfinity) continue;
    for (std::size_t t = 0; t < space.states.size(); ++t) {
      const std::int64_t value = function.value(ids.data(), space.states[t].data());
      if (value == DominanceTables::kNothing) continue;
      ++n_values;
      CHECK(space.hstar[t] != kInfinity && value <= space.hstar[s] - space.hstar[t]);
    }
  }
  return n_values;
}

// Lets states tell what they have to tell; bounds that hold stay so.
inline void spread(DominanceComparison& comparison, std::vector<Cost>& bounds, const WholeSpace& space) {
  while (true) {
    std::vector<std::pair<std::int32_t, std::int64_t>> news;
    const std::int32_t source =
        comparison.step([&](std::int32_t state, std::int64_t gain) { news.emplace_back(state, gain); });
    CHECK((source >= 0) == !news.empty());
    if (source < 0) return;
    for (const auto& [state, gain] : news) {
      Cost& bound = bounds[static_cast<std::size_t>(state)];
      CHECK(bounds[static_cast<std::size_t>(source)] - gain < bound);
      bound = bounds[static_cast<std::size_t>(source)] - gain;
      CHECK(bound >= space.hstar[static_cast<std::size_t>(state)]);
      comparison.lower(state, bound);
    }
  }
}

// The values of blocks are those of pairs; in the end no known state has anything to say about another.
inline void check_comparison(Random& random, const DominanceTables& function, const WholeSpace& space) {
  DominanceComparison comparison(function);
  std::vector<Cost> bounds;
  for (const Cost hstar : space.hstar) {
    const bool is_known = hstar != kInfinity && random.below(2) == 0;
    bounds.push_back(is_known ? hstar + random.below(9) : kInfinity);
  }
  std::vector<std::size_t> known;
  for (std::size_t k = 0; k < 90; ++k) {
    const auto s = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(space.states.size())));
    if (std::find(known.begin(), known.end(), s) != known.end()) continue;
    const Inference best = comparison.infer(space.states[s].data());
    CHECK((best.source >= 0) == (best.bound != kInfinity));
    if (best.source >= 0) {
      CHECK(best.bound == bounds[static_cast<std::size_t>(best.source)] - best.gain &&
            best.bound >= space.hstar[s]);
    }
    CHECK(comparison.queue(static_cast<std::int32_t>(s), bounds[s], space.states[s].data()));
    CHECK(!comparison.queue(static_cast<std::int32_t>(s), bounds[s], space.states[s].data()));
    known.push_back(s);
    if (random.below(3) > 0) spread(comparison, bounds, space);
  }
  spread(comparison, bounds, space);
  for (const std::size_t s : known) {
    for (const std::size_t t : known) {
      const std::int64_t gain = function.value(space.states[s].data(), space.states[t].data());
      if (bounds[s] != kInfinity && gain != DominanceTables::kNothing) CHECK(bounds[t] <= bounds[s] - gain);
    }
  }
}

class HffEvaluator final : public Evaluator {
 public:
  explicit HffEvaluator(const Task& task) : hff_(task) {}
  void set_goal(std::span<const Fact> goal) override { hff_.set_goal(goal); }
  Cost evaluate(const std::int32_t* values) override { return hff_(values); }
  void expand(const std::int32_t*) override {}
  Cost evaluate_successor(const std::int32_t* values, std::int32_t) override { return hff_(values); }

 private:
  HFF hff_;
};

inline void check_lookahead(Random& random, const CompiledTask& compiled) {
  StateStore store(compiled);
  const State start = random_state(random, compiled.task);
  std::int32_t id = -1;
  CHECK(store.add(1, start.data(), &id));
  Lookahead lookahead(store, std::make_unique<HffEvaluator>(compiled.task));
  CHECK(!lookahead.begin(7));
  for (const std::int64_t size : {1, 3, 40, 5}) {
    CHECK(lookahead.begin(0));
    lookahead.resume(size / 2);
    lookahead.resume(size);
    const auto& visits = lookahead.visits();
    CHECK(!visits.empty() && static_cast<std::int64_t>(visits.size()) <= size && visits[0].state == 0);
    std::set<std::int32_t> seen{0};
    for (std::size_t row = 1; row < visits.size(); ++row) {
      const auto before = static_cast<std::size_t>(visits[row].before);
      CHECK(before < row && seen.insert(visits[row].state).second);
      std::int32_t successor = -1;
      CHECK(store.apply(1, &visits[before].state, &visits[row].op, &successor) &&
            successor == visits[row].state);
      CHECK(visits[row].cost ==
            visits[before].cost + compiled.task.costs[static_cast<std::size_t>(visits[row].op)]);
    }
  }
}

inline void check_dominance(Random& random) {
  const CompiledTask compiled(connected_task(random));
  const WholeSpace space(compiled);
  AtomicSystem atomic(compiled.task);
  Progress progress{};
  for (const Answers answers : {Answers::kAll, Answers::kSameOrNothing}) {
    std::vector<Value> tables = atomic.tables;
    Limits few{0.0, 3, ~std::uint64_t{0}};
    try {
      Monitor monitor(few, &progress);
      DominanceFixPoint(atomic.system, split_tables(atomic.system, tables.data()), 1000, answers, monitor)
          .run();
    } catch (const Interrupted&) {
      tables = atomic.tables;  // too large yet to be of use
    }
    Monitor monitor({0.0, 0, ~std::uint64_t{0}}, &progress);
    const std::int32_t truncation = random.below(2) == 0 ? 1000 : random.below(6);
    DominanceFixPoint(atomic.system, split_tables(atomic.system, tables.data()), truncation, answers, monitor)
        .run();
    const std::int64_t n_stable = check_values(ValueTables(compiled.task, tables).function, space);
    DominanceClosure(atomic.system, split_tables(atomic.system, tables.data()), atomic.heights.data(),
                     monitor)
        .run();
    const ValueTables closed(compiled.task, tables);
    CHECK(check_values(closed.function, space) >= n_stable);
    check_comparison(random, closed.function, space);
  }
  check_lookahead(random, compiled);
}

}  // namespace plumbline::testing
