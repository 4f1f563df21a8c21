// The delete relaxation of a task toward one goal, made small before any state is evaluated.
//
// An operator is a group of pieces, one for every condition its effects have; the group carries the cost.
// Most groups have one piece. Axioms are groups free of charge. See docs/theory/conditional-effects.md.
//
// Facts and effects the goal does not need are dropped, groups that differ in nothing that is left are merged
// (the cheapest stays, the first of equals), and on request groups that another one dominates go too: it
// needs no more, gives no less and costs no more. None of this changes h_max, h_add or h+ in any state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/cases.hpp"
#include "core/components.hpp"
#include "core/task.hpp"

namespace plumbline {

enum class Costs { kPlain, kUnit };
enum class Dominated { kKeep, kRemove };
// Whether the cases of an operator with few of them are groups of their own.
enum class Cases { kTogether, kApart };

// Rows of small integers in one array; row r lies in [begin[r], begin[r + 1]).
struct NumberRows {
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
  NumberRows inverted(std::int32_t n_items) const {
    NumberRows result;
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

// Relaxed operators are the pieces of all groups that matter, group by group, and last the goal operator:
// goal facts -> goal_fact, free of charge. Those without preconditions need true_fact, which holds in every
// state.
struct RelaxedTask {
  std::vector<std::int32_t> fact_offset;  // of the task: fact (v, x) has the number fact_offset[v] + x
  std::vector<std::int32_t> fact_id;      // relaxed fact by fact number, -1 where the goal does not need it
  std::int32_t true_fact = 0;
  std::int32_t goal_fact = 0;
  NumberRows preconditions;         // by relaxed operator, ascending
  NumberRows effects;               // by relaxed operator, ascending, none of them among its preconditions
  NumberRows users;                 // by fact: the operators it is a precondition of
  NumberRows achievers;             // by fact: the operators it is an effect of
  std::vector<Cost> costs;          // by relaxed operator: that of its group
  std::vector<std::int32_t> group;  // by relaxed operator
  NumberRows pieces;                // by group, ascending
  bool shares_costs = false;        // some group has several pieces; if not, group g is relaxed operator g

  std::int32_t n_facts() const { return goal_fact + 1; }
  std::int32_t n_operators() const { return static_cast<std::int32_t>(costs.size()); }

  // The group that stands for an operator of the task in a state, -1 if it gives nothing that is needed.
  std::int32_t group_of(std::int32_t op, const std::int32_t* values) const {
    std::int32_t number = first_group[static_cast<std::size_t>(op)];
    if (!cases_of.empty()) {
      const auto found = cases_of.find(op);
      if (found != cases_of.end()) number += static_cast<std::int32_t>(found->second.of(values));
    }
    return representative[static_cast<std::size_t>(number)];
  }

  // Calls visit with every relaxed fact that holds in a state.
  template <class Visit>
  void for_each_fact_of(const std::int32_t* values, Visit visit) const {
    for (std::size_t variable = 0; variable + 1 < fact_offset.size(); ++variable) {
      const std::int32_t fact = fact_id[static_cast<std::size_t>(fact_offset[variable] + values[variable])];
      if (fact >= 0) visit(fact);
    }
    visit(true_fact);
  }

  // Groups before any were dropped: where those of an operator begin, its cases if it has several, and what
  // stands for each.
  std::vector<std::int32_t> first_group;
  std::map<std::int32_t, OperatorCases> cases_of;
  std::vector<std::int32_t> representative;
};

namespace relaxation {

struct Piece {
  std::vector<std::int32_t> preconditions;  // ascending
  std::vector<std::int32_t> effects;        // ascending
  auto operator<=>(const Piece&) const = default;
};

struct Group {
  std::vector<Piece> pieces;
  Cost cost;
};

inline bool contains(std::span<const std::int32_t> superset, std::span<const std::int32_t> subset) {
  return std::includes(superset.begin(), superset.end(), subset.begin(), subset.end());
}

inline bool dominates(const Piece& strong, const Piece& weak) {
  return contains(weak.preconditions, strong.preconditions) && contains(strong.effects, weak.effects);
}

// Effects that are preconditions too change nothing when nothing is deleted.
inline Piece make_piece(std::vector<std::int32_t> preconditions, std::vector<std::int32_t> effects) {
  std::ranges::sort(preconditions);
  preconditions.erase(std::ranges::unique(preconditions).begin(), preconditions.end());
  std::ranges::sort(effects);
  effects.erase(std::ranges::unique(effects).begin(), effects.end());
  std::erase_if(effects, [&](std::int32_t fact) { return std::ranges::binary_search(preconditions, fact); });
  return {std::move(preconditions), std::move(effects)};
}

inline std::vector<std::int32_t> fact_numbers(const Task& task, std::span<const Fact> facts) {
  std::vector<std::int32_t> numbers;
  for (const Fact fact : facts) numbers.push_back(task.fact_number(fact));
  return numbers;
}

// One piece for every different condition of an operator's effects.
inline Group whole_group(const Task& task, std::int32_t op, Cost cost) {
  const std::vector<std::int32_t> precondition = fact_numbers(task, task.preconditions[op]);
  Group group{{make_piece(precondition, fact_numbers(task, task.effects[op]))}, cost};
  std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> effects;
  for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i) {
    effects[fact_numbers(task, task.conditional.conditions[i])].push_back(
        task.fact_number(task.conditional.fact(i)));
  }
  for (auto& [condition, facts] : effects) {
    std::vector<std::int32_t> needed = precondition;
    needed.insert(needed.end(), condition.begin(), condition.end());
    group.pieces.push_back(make_piece(std::move(needed), std::move(facts)));
  }
  return group;
}

// What an operator does in one of its cases: only conditions on the changed variable itself are left.
inline Group group_of_case(const Task& task, std::int32_t op, const OperatorCases& cases,
                           const OperatorCases::Choice& choice, Cost cost) {
  std::vector<std::int32_t> precondition = fact_numbers(task, task.preconditions[op]);
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const std::vector<std::int32_t> values = cases.values(choice, i);
    if (values.size() == 1)
      precondition.push_back(task.fact_number({cases.variables()[i].variable, values.front()}));
  }
  struct Effect {
    std::int32_t own_condition;  // a fact number, -1: none
    Fact fact;
  };
  std::vector<Effect> effects;
  for (const Fact fact : task.effects[op]) effects.push_back({-1, fact});
  for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i) {
    if (!cases.foreign_conditions_hold(task, i, choice)) continue;
    Effect effect{-1, task.conditional.fact(i)};
    bool fires = true;
    for (const Fact fact : task.conditional.conditions[i]) {
      if (fact.variable != effect.fact.variable) continue;
      fires = cases.allows(choice, fact);
      effect.own_condition = task.fact_number(fact);
    }
    if (!fires) continue;
    if (effect.own_condition == -1) {  // it hides those before it
      std::erase_if(effects,
                    [&](const Effect& earlier) { return earlier.fact.variable == effect.fact.variable; });
    }
    effects.push_back(effect);
  }
  std::map<std::int32_t, std::vector<std::int32_t>> by_condition;
  for (const Effect& effect : effects)
    by_condition[effect.own_condition].push_back(task.fact_number(effect.fact));
  Group group{{}, cost};
  for (auto& [condition, facts] : by_condition) {
    std::vector<std::int32_t> needed = precondition;
    if (condition >= 0) needed.push_back(condition);
    group.pieces.push_back(make_piece(std::move(needed), std::move(facts)));
  }
  return group;
}

// A case as a group of its own makes landmarks sharper; operators with more cases than this are one group.
inline constexpr std::int64_t kMaxCases = 4;

// By operator its groups; says in `result` where they begin and of which cases they are.
inline std::vector<Group> operator_groups(const Task& task, Costs costs, Cases wanted, RelaxedTask& result) {
  std::vector<Group> groups;
  groups.reserve(static_cast<std::size_t>(task.n_operators()));
  for (std::int32_t op = 0; op < task.n_operators(); ++op) {
    const Cost cost = costs == Costs::kUnit ? 1 : task.costs[static_cast<std::size_t>(op)];
    result.first_group.push_back(static_cast<std::int32_t>(groups.size()));
    if (wanted == Cases::kApart && task.conditional.has(op)) {
      OperatorCases cases(task, op);
      if (const std::int64_t n_cases = cases.count(kMaxCases); n_cases <= kMaxCases) {
        for (std::int64_t number = 0; number < n_cases; ++number)
          groups.push_back(group_of_case(task, op, cases, cases.choice(number), cost));
        result.cases_of.emplace(op, std::move(cases));
        continue;
      }
    }
    groups.push_back(whole_group(task, op, cost));
  }
  return groups;
}

// By variable the component of derived variables that depend on each other's other values; -1: not derived.
inline std::vector<std::int32_t> axiom_components(const Task& task) {
  const Axioms& axioms = task.axioms;
  std::vector<std::vector<std::int32_t>> leans_on(static_cast<std::size_t>(task.n_variables()));
  for (std::int32_t rule = 0; rule < axioms.n_rules(); ++rule) {
    for (const Fact fact : axioms.bodies[rule]) {
      if (axioms.is_derived(fact.variable) && fact.value != axioms.default_of(fact.variable))
        leans_on[static_cast<std::size_t>(axioms.head(rule))].push_back(fact.variable);
    }
  }
  std::vector<std::int32_t> component(leans_on.size(), -1);
  std::int32_t number = 0;
  const Components components(leans_on);
  for (const std::vector<std::int32_t>& members : components.all()) {
    for (const std::int32_t v : members) component[static_cast<std::size_t>(v)] = number;
    ++number;
  }
  return component;
}

// A rule gives its head the other value. A variable has its default again when each of its rules is blocked,
// by any fact that its body excludes; rules that lean on their own component count as blocked, because none
// of them need have fired. Returns the number of facts with those that say that a rule is blocked.
inline std::int32_t add_axiom_groups(const Task& task, std::vector<Group>& groups) {
  const Axioms& axioms = task.axioms;
  std::int32_t n_facts = task.n_facts();
  if (axioms.empty()) return n_facts;
  const std::vector<std::int32_t> component = axiom_components(task);
  std::vector<std::vector<std::int32_t>> to_block(component.size());  // by derived variable
  for (std::int32_t rule = 0; rule < axioms.n_rules(); ++rule) {
    const std::int32_t head = axioms.head(rule);
    const std::int32_t other = task.fact_number({head, 1 - axioms.default_of(head)});
    groups.push_back({{make_piece(fact_numbers(task, axioms.bodies[rule]), {other})}, 0});
    const std::int32_t own = component[static_cast<std::size_t>(head)];
    if (std::ranges::any_of(axioms.bodies[rule], [&](Fact fact) {
          return axioms.is_derived(fact.variable) &&
                 component[static_cast<std::size_t>(fact.variable)] == own;
        })) {
      continue;
    }
    const std::int32_t blocked = n_facts++;
    to_block[static_cast<std::size_t>(head)].push_back(blocked);
    for (const Fact fact : axioms.bodies[rule]) {
      for (std::int32_t value = 0; value < task.domain_sizes[static_cast<std::size_t>(fact.variable)];
           ++value) {
        if (value != fact.value)
          groups.push_back({{make_piece({task.fact_number({fact.variable, value})}, {blocked})}, 0});
      }
    }
  }
  for (std::int32_t v = 0; v < task.n_variables(); ++v) {
    if (!axioms.is_derived(v)) continue;
    const std::int32_t fact = task.fact_number({v, axioms.default_of(v)});
    groups.push_back({{make_piece(to_block[static_cast<std::size_t>(v)], {fact})}, 0});
  }
  return n_facts;
}

// Facts some relaxed plan for the goal may need: goals, and preconditions of pieces that give a needed fact.
inline std::vector<char> needed_facts(std::int32_t n_facts, std::span<const Group> groups,
                                      std::span<const std::int32_t> goal) {
  std::vector<std::vector<const Piece*>> achievers(static_cast<std::size_t>(n_facts));
  for (const Group& group : groups) {
    for (const Piece& piece : group.pieces) {
      for (const std::int32_t fact : piece.effects)
        achievers[static_cast<std::size_t>(fact)].push_back(&piece);
    }
  }
  std::vector<char> needed(static_cast<std::size_t>(n_facts), 0);
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
    for (const Piece* piece : achievers[static_cast<std::size_t>(fact)]) {
      for (const std::int32_t precondition : piece->preconditions) need(precondition);
    }
  }
  return needed;
}

// Drops effects that are not needed, pieces without any, and pieces that another one of their group
// dominates.
inline void drop_needless(Group& group, const std::vector<char>& needed) {
  constexpr std::size_t kMaxCompared = 256;  // pieces of one group; more are all kept
  for (Piece& piece : group.pieces) {
    std::erase_if(piece.effects, [&](std::int32_t fact) { return !needed[static_cast<std::size_t>(fact)]; });
  }
  std::erase_if(group.pieces, [](const Piece& piece) { return piece.effects.empty(); });
  if (group.pieces.size() < 2) return;
  std::ranges::sort(group.pieces);
  group.pieces.erase(std::ranges::unique(group.pieces).begin(), group.pieces.end());
  if (group.pieces.size() > kMaxCompared) return;
  std::vector<Piece> kept;
  for (const Piece& piece : group.pieces) {
    if (std::ranges::none_of(group.pieces,
                             [&](const Piece& other) { return other != piece && dominates(other, piece); })) {
      kept.push_back(piece);
    }
  }
  group.pieces = std::move(kept);
}

// Merges groups with the same pieces. Returns the kept ones in their old order and writes, by old position,
// the new position of what stands for a group (-1: it has no effect left).
inline std::vector<Group> without_duplicates(std::vector<Group> groups,
                                             std::vector<std::int32_t>& representative) {
  const auto by_pieces = [&groups](std::size_t a, std::size_t b) {
    return groups[a].pieces < groups[b].pieces;
  };
  std::map<std::size_t, std::size_t, decltype(by_pieces)> cheapest(by_pieces);
  std::vector<const std::size_t*> twin(groups.size(), nullptr);  // says which equal one is the cheapest
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].pieces.empty()) continue;
    const auto [entry, is_new] = cheapest.try_emplace(g, g);
    if (!is_new && groups[g].cost < groups[entry->second].cost) entry->second = g;
    twin[g] = &entry->second;
  }
  std::vector<std::int32_t> new_position(groups.size(), -1);
  representative.assign(groups.size(), -1);
  std::int32_t n_kept = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (twin[g] != nullptr && *twin[g] == g) new_position[g] = n_kept++;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (twin[g] != nullptr) representative[g] = new_position[*twin[g]];
  }
  std::vector<Group> kept;
  kept.reserve(static_cast<std::size_t>(n_kept));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (new_position[g] >= 0) kept.push_back(std::move(groups[g]));
  }
  return kept;
}

// Removes every group of one piece that a piece of another group dominates at no higher cost. A group of
// several pieces stays: it could only go for one group that dominates all of them. Pairs are found at the
// effect with the fewest achievers; the number of pairs looked at is bounded, so that huge tasks keep some
// dominated operators instead of waiting for this.
inline std::vector<Group> without_dominated(std::vector<Group> groups, std::int32_t n_facts,
                                            std::vector<std::int32_t>& representative) {
  constexpr std::int64_t kMaxPairs = 50'000'000;
  NumberRows effects;
  std::vector<const Piece*> pieces;
  std::vector<std::int32_t> group_of;
  std::vector<std::uint64_t> needs;  // signature: a superset has all bits of a subset
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Piece& piece : groups[g].pieces) {
      effects.add_row(piece.effects);
      pieces.push_back(&piece);
      group_of.push_back(static_cast<std::int32_t>(g));
      needs.push_back(0);
      for (const std::int32_t fact : piece.preconditions) needs.back() |= std::uint64_t{1} << (fact & 63);
    }
  }
  const NumberRows achievers = effects.inverted(n_facts);
  std::vector<std::int32_t> dominator(groups.size(), -1);
  std::int64_t pairs = 0;
  for (std::size_t p = 0; p < pieces.size() && pairs < kMaxPairs; ++p) {
    const auto weak_group = static_cast<std::size_t>(group_of[p]);
    if (groups[weak_group].pieces.size() > 1) continue;
    const Piece& weak = *pieces[p];
    const std::int32_t rarest = *std::ranges::min_element(
        weak.effects, {}, [&](std::int32_t fact) { return achievers[fact].size(); });
    pairs += static_cast<std::int64_t>(achievers[rarest].size());
    for (const std::int32_t candidate : achievers[rarest]) {
      const auto d = static_cast<std::size_t>(candidate);
      const auto strong_group = static_cast<std::size_t>(group_of[d]);
      if (d == p || dominator[strong_group] >= 0 || (needs[d] & ~needs[p]) != 0) continue;
      if (groups[strong_group].cost <= groups[weak_group].cost && dominates(*pieces[d], weak)) {
        dominator[weak_group] = group_of[d];
        break;
      }
    }
  }
  std::vector<std::int32_t> new_position(groups.size(), -1);
  std::vector<Group> kept;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (dominator[g] >= 0) continue;
    new_position[g] = static_cast<std::int32_t>(kept.size());
    kept.push_back(std::move(groups[g]));
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

inline RelaxedTask relax(const Task& task, std::span<const Fact> goal_facts, Costs costs, Dominated dominated,
                         Cases cases = Cases::kTogether) {
  using relaxation::Group;
  using relaxation::Piece;
  std::vector<std::int32_t> goal = relaxation::fact_numbers(task, goal_facts);
  std::ranges::sort(goal);
  goal.erase(std::ranges::unique(goal).begin(), goal.end());

  RelaxedTask result;
  std::vector<Group> groups = relaxation::operator_groups(task, costs, cases, result);
  const std::int32_t n_facts = relaxation::add_axiom_groups(task, groups);
  const std::vector<char> needed = relaxation::needed_facts(n_facts, groups, goal);
  for (Group& group : groups) relaxation::drop_needless(group, needed);
  groups = relaxation::without_duplicates(std::move(groups), result.representative);
  if (dominated == Dominated::kRemove) {
    groups = relaxation::without_dominated(std::move(groups), n_facts, result.representative);
  }

  result.fact_offset = task.fact_offset;
  result.fact_id.assign(static_cast<std::size_t>(n_facts), -1);
  for (std::size_t fact = 0; fact < needed.size(); ++fact) {
    if (needed[fact]) result.fact_id[fact] = result.true_fact++;
  }
  result.goal_fact = result.true_fact + 1;
  const auto renamed = [&](std::vector<std::int32_t> facts) {
    for (std::int32_t& fact : facts) fact = result.fact_id[static_cast<std::size_t>(fact)];
    return facts;
  };
  std::vector<std::int32_t> members;
  const auto add = [&](std::vector<std::int32_t> preconditions, std::vector<std::int32_t> effects,
                       Cost cost) {
    if (preconditions.empty()) preconditions.push_back(result.true_fact);
    members.push_back(result.n_operators());
    result.group.push_back(static_cast<std::int32_t>(result.pieces.begin.size()) - 1);
    result.preconditions.add_row(preconditions);
    result.effects.add_row(effects);
    result.costs.push_back(cost);
  };
  const auto close_group = [&] {
    result.shares_costs = result.shares_costs || members.size() > 1;
    result.pieces.add_row(members);
    members.clear();
  };
  for (const Group& group : groups) {
    for (const Piece& piece : group.pieces)
      add(renamed(piece.preconditions), renamed(piece.effects), group.cost);
    close_group();
  }
  add(renamed(goal), {result.goal_fact}, 0);
  close_group();
  result.users = result.preconditions.inverted(result.n_facts());
  result.achievers = result.effects.inverted(result.n_facts());
  return result;
}

}  // namespace plumbline
