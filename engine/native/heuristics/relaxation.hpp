// The delete relaxation of a task towards one goal, made small before any state is evaluated.
//
// Facts and effects the goal does not need are dropped, operators that differ in nothing that is left are
// merged (the cheapest stays, the first of equals), and on request operators that another one dominates go
// too: it needs no more, gives no less and costs no more. None of this changes h_max, h_add or h+ in any
// state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

enum class Costs { kPlain, kUnit };
enum class Dominated { kKeep, kRemove };

// Rows of small integers in one array; row r lies in [begin[r], begin[r + 1]).
struct IndexRows {
  std::vector<std::int32_t> begin{0};
  std::vector<std::int32_t> items;

  std::span<const std::int32_t> operator[](std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    return {items.data() + begin[r], static_cast<std::size_t>(begin[r + 1] - begin[r])};
  }

  void add_row(std::span<const std::int32_t> row) {
    items.insert(items.end(), row.begin(), row.end());
    begin.push_back(static_cast<std::int32_t>(items.size()));
  }

  // The rows read the other way round: for every item (below n_items) the rows it occurs in, ascending.
  IndexRows inverted(std::int32_t n_items) const {
    IndexRows result;
    result.begin.assign(static_cast<std::size_t>(n_items) + 1, 0);
    for (const std::int32_t item : items) ++result.begin[static_cast<std::size_t>(item) + 1];
    std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
    result.items.resize(items.size());
    std::vector<std::int32_t> next(result.begin.begin(), result.begin.end() - 1);
    for (std::int32_t row = 0; row + 1 < static_cast<std::int32_t>(begin.size()); ++row) {
      for (const std::int32_t item : (*this)[row]) {
        result.items[static_cast<std::size_t>(next[static_cast<std::size_t>(item)]++)] = row;
      }
    }
    return result;
  }
};

// A relaxed operator for every different operator that matters, and last the goal operator: goal facts ->
// goal_fact, free of charge. Operators without preconditions need true_fact, which holds in every state.
struct RelaxedTask {
  std::vector<std::int32_t> fact_offset;  // of the task: fact (v, x) has the number fact_offset[v] + x
  std::vector<std::int32_t> fact_id;      // relaxed fact by fact number, -1 where the goal does not need it
  std::int32_t true_fact = 0;
  std::int32_t goal_fact = 0;
  IndexRows preconditions;  // by relaxed operator, ascending
  IndexRows effects;        // by relaxed operator, ascending, none of them among its preconditions
  IndexRows users;          // by fact: the operators it is a precondition of
  IndexRows achievers;      // by fact: the operators it is an effect of
  std::vector<Cost> costs;
  // By operator of the task the relaxed one that is the same or better, -1 if it gives nothing that is
  // needed.
  std::vector<std::int32_t> representative;

  std::int32_t n_facts() const { return goal_fact + 1; }
  std::int32_t n_operators() const { return static_cast<std::int32_t>(costs.size()); }

  // Calls visit with every relaxed fact that holds in a state.
  template <class Visit>
  void for_each_fact_of(const std::int32_t* values, Visit visit) const {
    for (std::size_t variable = 0; variable + 1 < fact_offset.size(); ++variable) {
      const std::int32_t fact = fact_id[static_cast<std::size_t>(fact_offset[variable] + values[variable])];
      if (fact >= 0) visit(fact);
    }
    visit(true_fact);
  }
};

namespace relaxation {

struct Candidate {
  std::vector<std::int32_t> preconditions;
  std::vector<std::int32_t> effects;
  Cost cost;
};

inline bool contains(std::span<const std::int32_t> superset, std::span<const std::int32_t> subset) {
  return std::includes(superset.begin(), superset.end(), subset.begin(), subset.end());
}

// Every operator's facts as numbers; effects that are preconditions too change nothing when nothing is
// deleted.
inline std::vector<Candidate> relaxed_operators(const Task& task, Costs costs) {
  std::vector<Candidate> result(static_cast<std::size_t>(task.n_operators()));
  for (std::int32_t o = 0; o < task.n_operators(); ++o) {
    Candidate& candidate = result[static_cast<std::size_t>(o)];
    for (const Fact& fact : task.preconditions[o]) candidate.preconditions.push_back(task.fact_number(fact));
    for (const Fact& fact : task.effects[o]) {
      const std::int32_t number = task.fact_number(fact);
      if (!std::ranges::binary_search(candidate.preconditions, number)) candidate.effects.push_back(number);
    }
    candidate.cost = costs == Costs::kUnit ? 1 : task.costs[static_cast<std::size_t>(o)];
  }
  return result;
}

// Facts some relaxed plan for the goal may need: goals, and preconditions of operators that give a needed
// fact.
inline std::vector<char> needed_facts(const Task& task, std::span<const Candidate> operators,
                                      std::span<const std::int32_t> goal) {
  std::vector<std::vector<std::int32_t>> achievers(static_cast<std::size_t>(task.n_facts()));
  for (std::size_t o = 0; o < operators.size(); ++o) {
    for (const std::int32_t fact : operators[o].effects) {
      achievers[static_cast<std::size_t>(fact)].push_back(static_cast<std::int32_t>(o));
    }
  }
  std::vector<char> needed(static_cast<std::size_t>(task.n_facts()), 0);
  std::vector<std::int32_t> open;
  const auto need = [&](std::int32_t fact) {
    if (!needed[static_cast<std::size_t>(fact)]) {
      needed[static_cast<std::size_t>(fact)] = 1;
      open.push_back(fact);
    }
  };
  for (const std::int32_t fact : goal) need(fact);
  while (!open.empty()) {
    const std::int32_t fact = open.back();
    open.pop_back();
    for (const std::int32_t o : achievers[static_cast<std::size_t>(fact)]) {
      for (const std::int32_t precondition : operators[static_cast<std::size_t>(o)].preconditions)
        need(precondition);
    }
  }
  return needed;
}

// Merges operators with the same preconditions and effects. Returns the kept ones in their old order and
// writes, by old position, the new position of what stands for an operator (-1: it has no effect left).
inline std::vector<Candidate> without_duplicates(std::vector<Candidate> operators,
                                                 std::vector<std::int32_t>& representative) {
  using Facts = std::vector<std::int32_t>;
  std::map<std::pair<Facts, Facts>, std::size_t> cheapest;
  std::vector<const std::size_t*> twin(operators.size(), nullptr);  // says which equal one is the cheapest
  for (std::size_t o = 0; o < operators.size(); ++o) {
    if (operators[o].effects.empty()) continue;
    const auto [entry, is_new] = cheapest.try_emplace({operators[o].preconditions, operators[o].effects}, o);
    if (!is_new && operators[o].cost < operators[entry->second].cost) entry->second = o;
    twin[o] = &entry->second;
  }
  std::vector<std::int32_t> new_position(operators.size(), -1);
  std::vector<Candidate> kept;
  for (std::size_t o = 0; o < operators.size(); ++o) {
    if (twin[o] == nullptr || *twin[o] != o) continue;
    new_position[o] = static_cast<std::int32_t>(kept.size());
    kept.push_back(std::move(operators[o]));
  }
  representative.assign(operators.size(), -1);
  for (std::size_t o = 0; o < operators.size(); ++o) {
    if (twin[o] != nullptr) representative[o] = new_position[*twin[o]];
  }
  return kept;
}

// Removes every operator another one dominates. Pairs are found at the effect with the fewest achievers; the
// number of pairs looked at is bounded, so that huge tasks keep some dominated operators instead of waiting
// for this.
inline std::vector<Candidate> without_dominated(std::vector<Candidate> operators, std::int32_t n_facts,
                                                std::vector<std::int32_t>& representative) {
  constexpr std::int64_t kMaxPairs = 50'000'000;
  IndexRows effects;
  std::vector<std::uint64_t> needs(operators.size());  // signature: a superset has all bits of a subset
  for (std::size_t o = 0; o < operators.size(); ++o) {
    effects.add_row(operators[o].effects);
    for (const std::int32_t fact : operators[o].preconditions) needs[o] |= std::uint64_t{1} << (fact & 63);
  }
  const IndexRows achievers = effects.inverted(n_facts);
  std::vector<std::int32_t> dominator(operators.size(), -1);
  std::int64_t pairs = 0;
  for (std::size_t o = 0; o < operators.size() && pairs < kMaxPairs; ++o) {
    const Candidate& weak = operators[o];
    const std::int32_t rarest = *std::ranges::min_element(
        weak.effects, {}, [&](std::int32_t fact) { return achievers[fact].size(); });
    pairs += static_cast<std::int64_t>(achievers[rarest].size());
    for (const std::int32_t candidate : achievers[rarest]) {
      const auto d = static_cast<std::size_t>(candidate);
      if (d == o || dominator[d] >= 0 || (needs[d] & ~needs[o]) != 0) continue;
      const Candidate& strong = operators[d];
      if (strong.cost <= weak.cost && contains(weak.preconditions, strong.preconditions) &&
          contains(strong.effects, weak.effects)) {
        dominator[o] = candidate;
        break;
      }
    }
  }
  std::vector<std::int32_t> new_position(operators.size(), -1);
  std::vector<Candidate> kept;
  for (std::size_t o = 0; o < operators.size(); ++o) {
    if (dominator[o] >= 0) continue;
    new_position[o] = static_cast<std::int32_t>(kept.size());
    kept.push_back(std::move(operators[o]));
  }
  for (std::int32_t& position : representative) {
    if (position < 0) continue;
    while (dominator[static_cast<std::size_t>(position)] >= 0)
      position = dominator[static_cast<std::size_t>(position)];
    position = new_position[static_cast<std::size_t>(position)];
  }
  return kept;
}

}  // namespace relaxation

inline RelaxedTask relax(const Task& task, std::span<const Fact> goal_facts, Costs costs,
                         Dominated dominated) {
  using relaxation::Candidate;
  std::vector<std::int32_t> goal;
  for (const Fact& fact : goal_facts) goal.push_back(task.fact_number(fact));
  std::ranges::sort(goal);
  goal.erase(std::ranges::unique(goal).begin(), goal.end());

  std::vector<Candidate> operators = relaxation::relaxed_operators(task, costs);
  const std::vector<char> needed = relaxation::needed_facts(task, operators, goal);
  for (Candidate& candidate : operators) {
    std::erase_if(candidate.effects,
                  [&](std::int32_t fact) { return !needed[static_cast<std::size_t>(fact)]; });
  }
  RelaxedTask result;
  operators = relaxation::without_duplicates(std::move(operators), result.representative);
  if (dominated == Dominated::kRemove) {
    operators = relaxation::without_dominated(std::move(operators), task.n_facts(), result.representative);
  }

  result.fact_offset = task.fact_offset;
  result.fact_id.assign(static_cast<std::size_t>(task.n_facts()), -1);
  for (std::size_t fact = 0; fact < needed.size(); ++fact) {
    if (needed[fact]) result.fact_id[fact] = result.true_fact++;
  }
  result.goal_fact = result.true_fact + 1;
  const auto renamed = [&](std::vector<std::int32_t> facts) {
    for (std::int32_t& fact : facts) fact = result.fact_id[static_cast<std::size_t>(fact)];
    return facts;
  };
  const auto add = [&](std::vector<std::int32_t> preconditions, std::vector<std::int32_t> effects) {
    if (preconditions.empty()) preconditions.push_back(result.true_fact);
    result.preconditions.add_row(preconditions);
    result.effects.add_row(effects);
  };
  for (const Candidate& candidate : operators) {
    add(renamed(candidate.preconditions), renamed(candidate.effects));
    result.costs.push_back(candidate.cost);
  }
  add(renamed(goal), {result.goal_fact});
  result.costs.push_back(0);
  result.users = result.preconditions.inverted(result.n_facts());
  result.achievers = result.effects.inverted(result.n_facts());
  return result;
}

}  // namespace plumbline
