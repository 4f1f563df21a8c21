// LM-cut for one goal and one type of values: disjunctive action landmarks by cuts in the justification graph
// (Helmert and Domshlak 2009, "Landmarks, Critical Paths and Abstractions: What's the Difference Anyway?"),
// with four rules that shape the goal zone of a cut. See docs/theory/searches.md, "The goal zone".
//
// Z, the goal zone, may be any set of facts with the goal in it and no fact of the state: the operators that
// enter Z from outside are a landmark. All rules grow Z backward from the goal through zero-cost operators,
// each by one of its most expensive preconditions; they differ in which one.
//
// An operator with conditional effects is a group of pieces that share one cost: what a landmark takes from
// one of them it takes once from all. See docs/theory/conditional-effects.md, "Landmarks".
//
// New here: there is no forward search, because a fact cheaper than the goal can always be reached outside Z
// (the operators on its cheapest path give nothing as expensive as Z). Only the few facts at least as
// expensive as the goal are looked at, and only those that an operator entering Z asks for. After each cut
// h_max is repaired along lists of the operators that each fact supports.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/fact_queue.hpp"
#include "core/task.hpp"
#include "heuristics/relaxation.hpp"

namespace plumbline {

// Which most expensive precondition a zero-cost operator draws into the goal zone.
enum class LmCutRule : std::int32_t {
  // Its supporter, as the exploration found it.
  kBase,
  // One in the zone, else one that no zero-cost operator gives, else its supporter: the rule of Fast Downward
  // 26.6 (Lauer and Fickert 2020, "Beating LM-Cut with LM-Cut").
  kGzbd,
  // Operators with a choice wait until the forced part of the zone is closed. Then the first one that has a
  // candidate which no zero-cost operator gives draws in the candidate that leaves the fewest zero-cost
  // operators unanswered. Operators with a precondition in the zone are neither in the cut nor on a path to
  // it.
  kDelayOpen,
  // As kDelayOpen, but with the best candidate over all waiting operators; and an operator is in the cut only
  // if all its preconditions (not only its supporter) can be reached outside the zone.
  kFGlobal,
};

template <class Value>
class LmCutKernel {
 public:
  explicit LmCutKernel(RelaxedTask task)
      : task_(std::move(task)),
        base_facts_(static_cast<std::size_t>(task_.n_facts())),
        facts_(base_facts_.size()),
        fact_marks_(base_facts_.size()),
        operators_(static_cast<std::size_t>(task_.n_operators()) + 1),
        initial_unsatisfied_(static_cast<std::size_t>(task_.n_operators())),
        unsatisfied_(initial_unsatisfied_.size()) {
    for (std::int32_t o = 0; o < task_.n_operators(); ++o) {
      Operator& op = operator_at(o);
      op.cost = static_cast<Value>(task_.costs[index(o)]);
      start_costs_.push_back(op.cost);
      op.preconditions = static_cast<std::int32_t>(pool_.size());
      for (const std::int32_t fact : task_.preconditions[o]) pool_.push_back(fact);
      op.effects = static_cast<std::int32_t>(pool_.size());
      for (const std::int32_t fact : task_.effects[o]) {
        pool_.push_back(fact);
        if (op.cost == 0) ++base_facts_[index(fact)].zero_cost_achievers;
      }
      initial_unsatisfied_[index(o)] = op.effects - op.preconditions;
    }
    operators_.back().preconditions = static_cast<std::int32_t>(pool_.size());
    start_facts_ = base_facts_;
  }

  // The largest value an evaluation may meet fits Value with room for one addition.
  static bool fits(const RelaxedTask& task) {
    Cost sum = 0;
    for (const Cost cost : task.costs) {
      if (cost > static_cast<Cost>(kUnreached / 4) - sum) return false;
      sum += cost;
    }
    return true;
  }

  template <LmCutRule kRule>
  Cost evaluate(const std::int32_t* values) {
    forget_expansion();
    reset();
    return add_landmarks<kRule>(values, 0);
  }

  // Finds the landmarks of a state and keeps them for its successors.
  template <LmCutRule kRule>
  void expand(const std::int32_t* values) {
    forget_expansion();
    reset();
    is_expanded_ = true;
    expanded_value_ = add_landmarks<kRule, true>(values, 0);
    for (const std::int32_t g : landmark_groups_)
      for_each_piece(g, [this](std::int32_t o) { start_costs_[index(o)] = operator_at(o).cost; });
    if (!task_.cases_of.empty()) expanded_.assign(values, values + task_.fact_offset.size() - 1);
    for (std::size_t fact = 0; fact < facts_.size(); ++fact) {
      start_facts_[fact].zero_cost_achievers = facts_[fact].zero_cost_achievers;
    }
    changed_.clear();
  }

  // A successor of the state last expanded: the landmarks that do not have the operator between them are
  // landmarks of the successor too, only what they leave over needs new ones.
  template <LmCutRule kRule>
  Cost evaluate_successor(const std::int32_t* values, std::int32_t task_operator) {
    if (!is_expanded_) return evaluate<kRule>(values);
    if (expanded_value_ == kInfinity) return kInfinity;
    reset();
    const std::int32_t applied = task_.group_of(task_operator, expanded_.data());
    return add_landmarks<kRule>(values, expanded_value_ - give_back_landmarks_with(applied));
  }

 private:
  static constexpr Value kUnreached = std::numeric_limits<Value>::max();
  static constexpr std::int32_t kNone = -1;

  struct FactState {
    Value value = kUnreached;        // h_max
    std::int32_t supported = kNone;  // first operator of the list this fact supports
    std::int32_t zero_cost_achievers = 0;
    std::uint32_t zone = 0;  // round in which the fact was last in the zone
  };
  // Marks used for single facts only in some rounds; each counts if its round is the present one.
  struct FactMarks {
    std::uint32_t visited = 0;
    std::uint32_t reached = 0;
    std::int32_t waiting =
        kNone;  // first entry of the list of operators that wait for this fact to be reached
    std::uint32_t counted = 0;
    std::int32_t hits = 0;
  };
  struct Operator {
    Value cost;
    Value supporter_value;  // kUnreached: not applicable even in the relaxation
    std::int32_t supporter;
    std::int32_t next;           // in the supporter's list
    std::int32_t previous;       // kNone: first
    std::int32_t preconditions;  // where they begin in pool_
    std::int32_t effects;        // where they begin in pool_; they end where the next operator's facts begin
    std::uint32_t seen = 0;      // round in which the operator was last met in the zone or the cut
  };
  struct WaitingEntry {
    std::int32_t op;
    std::int32_t next;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  Operator& operator_at(std::int32_t o) { return operators_[index(o)]; }
  FactState& fact_at(std::int32_t fact) { return facts_[index(fact)]; }
  Value value(std::int32_t fact) const { return facts_[index(fact)].value; }
  bool in_zone(std::int32_t fact) const { return facts_[index(fact)].zone == round_; }

  std::span<const std::int32_t> preconditions(const Operator& op) const {
    return {pool_.data() + op.preconditions, pool_.data() + op.effects};
  }
  std::span<const std::int32_t> effects(const Operator& op) const {
    return {pool_.data() + op.effects, pool_.data() + (&op + 1)->preconditions};
  }

  template <LmCutRule kRule, bool kKeep = false>
  Cost add_landmarks(const std::int32_t* values, Cost estimate) {
    explore(values);
    if (value(task_.goal_fact) == kUnreached) return kInfinity;
    while (value(task_.goal_fact) > 0) {
      next_round();
      grow_zone<kRule>();
      find_cut<kRule>();
      const Value cost = apply_cut();
      estimate += static_cast<Cost>(cost);
      if constexpr (kKeep) {
        landmark_groups_.insert(landmark_groups_.end(), cut_groups().begin(), cut_groups().end());
        landmark_ends_.push_back(landmark_groups_.size());
        landmark_costs_.push_back(cost);
      }
      repair();
    }
    return estimate;
  }

  void forget_expansion() {
    if (!is_expanded_) return;
    is_expanded_ = false;
    for (const std::int32_t g : landmark_groups_) {
      for_each_piece(g, [this](std::int32_t o) {
        operator_at(o).cost = start_costs_[index(o)] = static_cast<Value>(task_.costs[index(o)]);
      });
    }
    std::copy(base_facts_.begin(), base_facts_.end(), start_facts_.begin());
    landmark_groups_.clear();
    landmark_ends_.clear();
    landmark_costs_.clear();
  }

  // Undoes what the landmarks with a group took from their groups; returns what they were worth
  // together.
  Cost give_back_landmarks_with(std::int32_t applied) {
    Cost worth = 0;
    auto begin = landmark_groups_.cbegin();
    for (std::size_t landmark = 0; landmark < landmark_costs_.size(); ++landmark) {
      const auto end = landmark_groups_.cbegin() + static_cast<std::ptrdiff_t>(landmark_ends_[landmark]);
      if (std::find(begin, end, applied) != end) {
        worth += static_cast<Cost>(landmark_costs_[landmark]);
        for (auto g = begin; g != end; ++g) {
          for_each_piece(*g, [&](std::int32_t o) { raise_cost(o, landmark_costs_[landmark]); });
        }
      }
      begin = end;
    }
    return worth;
  }

  void raise_cost(std::int32_t o, Value amount) {
    Operator& op = operator_at(o);
    if (op.cost == 0) {
      for (const std::int32_t effect : effects(op)) --fact_at(effect).zero_cost_achievers;
    }
    op.cost += amount;
    changed_.push_back(o);
  }

  void reset() {
    for (const std::int32_t o : changed_) operator_at(o).cost = start_costs_[index(o)];
    changed_.clear();
    std::copy(start_facts_.begin(), start_facts_.end(), facts_.begin());
    std::copy(initial_unsatisfied_.begin(), initial_unsatisfied_.end(), unsatisfied_.begin());
    if (std::max(round_, hit_round_) > std::numeric_limits<std::uint32_t>::max() / 2) {
      round_ = hit_round_ = 0;
      for (Operator& op : operators_) op.seen = 0;
      std::fill(fact_marks_.begin(), fact_marks_.end(), FactMarks{});
    }
  }

  void next_round() {
    ++round_;
    zone_.clear();
    entering_.clear();
    cut_.clear();
  }

  void improve(std::int32_t fact, Value new_value) {
    FactState& state = fact_at(fact);
    if (new_value < state.value) {
      state.value = new_value;
      queue_.push(new_value, fact);
    }
  }

  void link(Operator& op, std::int32_t o, std::int32_t supporter) {
    FactState& state = fact_at(supporter);
    op.supporter = supporter;
    op.previous = kNone;
    op.next = state.supported;
    if (op.next != kNone) operator_at(op.next).previous = o;
    state.supported = o;
  }

  void unlink(const Operator& op) {
    if (op.previous != kNone) {
      operator_at(op.previous).next = op.next;
    } else {
      fact_at(op.supporter).supported = op.next;
    }
    if (op.next != kNone) operator_at(op.next).previous = op.previous;
  }

  void set_supporter(std::int32_t o, std::int32_t supporter) {
    Operator& op = operator_at(o);
    if (op.supporter == supporter) return;
    unlink(op);
    link(op, o, supporter);
  }

  // h_max of all facts in a state, under the present costs.
  void explore(const std::int32_t* values) {
    task_.for_each_fact_of(values, [this](std::int32_t fact) { improve(fact, 0); });
    std::int32_t n_applicable = 0;
    Value key;
    std::int32_t fact;
    while (queue_.pop(key, fact)) {
      if (value(fact) < key) continue;
      if (fact == task_.goal_fact && key == 0) break;  // no landmark is left to find
      for (const std::int32_t o : task_.users[fact]) {
        if (--unsatisfied_[index(o)] > 0) continue;
        ++n_applicable;
        Operator& op = operator_at(o);
        op.supporter_value = key;
        link(op, o, fact);
        for (const std::int32_t effect : effects(op)) improve(effect, key + op.cost);
      }
    }
    queue_.clear();
    if (n_applicable == task_.n_operators() || value(task_.goal_fact) == 0) return;
    for (std::int32_t o = 0; o < task_.n_operators(); ++o) {
      if (unsatisfied_[index(o)] > 0) operator_at(o).supporter_value = kUnreached;
    }
  }

  // After costs fell and the effects of those operators were improved: values and supporters of everything
  // behind.
  void repair() {
    Value key;
    std::int32_t fact;
    while (queue_.pop(key, fact)) {
      if (value(fact) < key) continue;
      std::int32_t next;
      for (std::int32_t o = fact_at(fact).supported; o != kNone; o = next) {
        Operator& op = operator_at(o);
        next = op.next;
        if (op.supporter_value <= key) continue;
        std::int32_t supporter = fact;
        Value most = key;
        for (const std::int32_t precondition : preconditions(op)) {
          const Value candidate = value(precondition);
          if (candidate > most) {
            most = candidate;
            supporter = precondition;
          }
        }
        if (supporter != fact) {
          unlink(op);
          link(op, o, supporter);
        }
        if (most == op.supporter_value) continue;
        op.supporter_value = most;
        for (const std::int32_t effect : effects(op)) improve(effect, most + op.cost);
      }
    }
    queue_.recycle();
  }

  void add_to_zone(std::int32_t fact) {
    fact_at(fact).zone = round_;
    zone_.push_back(fact);
  }

  template <LmCutRule kRule>
  void grow_zone() {
    goal_value_ = value(task_.goal_fact);
    waiting_operators_.clear();
    add_to_zone(task_.goal_fact);
    do {
      while (!zone_.empty()) {
        const std::int32_t fact = zone_.back();
        zone_.pop_back();
        for (const std::int32_t o : task_.achievers[fact]) {
          Operator& op = operator_at(o);
          if (op.seen == round_ || op.supporter_value == kUnreached) continue;
          op.seen = round_;
          if (op.cost > 0) {
            entering_.push_back(o);
          } else {
            draw_in_precondition<kRule>(o, op);
          }
        }
      }
    } while (choose_for_waiting<kRule>());
  }

  template <LmCutRule kRule>
  void draw_in_precondition(std::int32_t o, const Operator& op) {
    std::int32_t chosen = op.supporter;
    if constexpr (kRule != LmCutRule::kBase) {
      std::int32_t n_candidates = 0;
      bool on_border = false;
      for (const std::int32_t fact : preconditions(op)) {
        const FactState& state = fact_at(fact);
        if (state.value != op.supporter_value) continue;
        if (state.zone == round_) {
          set_supporter(o, fact);
          return;
        }
        ++n_candidates;
        if (kRule == LmCutRule::kGzbd && !on_border && state.zero_cost_achievers == 0) {
          on_border = true;
          chosen = fact;
        }
      }
      if (kRule != LmCutRule::kGzbd && n_candidates > 1) {
        waiting_operators_.push_back(o);
        return;
      }
      set_supporter(o, chosen);
    }
    if (!in_zone(chosen)) add_to_zone(chosen);
  }

  // The forced part of the zone is closed: draws in one candidate of one operator that still has a choice.
  // False if there is none.
  template <LmCutRule kRule>
  bool choose_for_waiting() {
    if constexpr (kRule == LmCutRule::kBase || kRule == LmCutRule::kGzbd) return false;
    drop_answered();
    if (waiting_operators_.empty()) return false;
    count_hits();
    Choice best;
    if constexpr (kRule == LmCutRule::kFGlobal) {
      for (const std::int32_t o : waiting_operators_) consider(o, best);
    } else {
      consider(first_with_border_candidate(), best);
    }
    set_supporter(best.op, best.fact);
    add_to_zone(best.fact);
    return true;
  }

  struct Choice {
    std::int32_t open = std::numeric_limits<std::int32_t>::max();
    std::int32_t hits = 0;
    bool is_supporter = false;
    std::int32_t op = kNone;
    std::int32_t fact = kNone;

    bool better_than(const Choice& other) const {
      if (open != other.open) return open < other.open;
      if (hits != other.hits) return hits > other.hits;
      return is_supporter && !other.is_supporter;
    }
  };

  std::int32_t candidate_in_zone(const Operator& op) const {
    for (const std::int32_t fact : preconditions(op)) {
      if (in_zone(fact) && value(fact) == op.supporter_value) return fact;
    }
    return kNone;
  }

  void drop_answered() {
    std::size_t kept = 0;
    for (const std::int32_t o : waiting_operators_) {
      const std::int32_t answer = candidate_in_zone(operator_at(o));
      if (answer == kNone) {
        waiting_operators_[kept++] = o;
      } else {
        set_supporter(o, answer);
      }
    }
    waiting_operators_.resize(kept);
  }

  // By fact: how many waiting operators have it as a candidate.
  void count_hits() {
    ++hit_round_;
    if (waiting_operators_.size() == 1) return;
    for (const std::int32_t o : waiting_operators_) {
      const Operator& op = operator_at(o);
      for (const std::int32_t fact : preconditions(op)) {
        if (value(fact) != op.supporter_value) continue;
        FactMarks& marks = fact_marks_[index(fact)];
        if (marks.counted != hit_round_) {
          marks.counted = hit_round_;
          marks.hits = 0;
        }
        ++marks.hits;
      }
    }
  }

  std::int32_t first_with_border_candidate() {
    for (const std::int32_t o : waiting_operators_) {
      const Operator& op = operator_at(o);
      for (const std::int32_t fact : preconditions(op)) {
        const FactState& state = fact_at(fact);
        if (state.zero_cost_achievers == 0 && state.value == op.supporter_value) return o;
      }
    }
    return waiting_operators_.front();
  }

  void consider(std::int32_t o, Choice& best) {
    const Operator& op = operator_at(o);
    for (const std::int32_t fact : preconditions(op)) {
      if (value(fact) != op.supporter_value) continue;
      Choice choice;
      choice.open = open_achievers(fact);
      const FactMarks& marks = fact_marks_[index(fact)];
      choice.hits = marks.counted == hit_round_ ? marks.hits : 1;
      choice.is_supporter = fact == op.supporter;
      choice.op = o;
      choice.fact = fact;
      if (choice.better_than(best)) best = choice;
    }
  }

  // Zero-cost operators that give a fact and would need a further choice if it were in the zone.
  std::int32_t open_achievers(std::int32_t fact) {
    if (fact_at(fact).zero_cost_achievers == 0) return 0;
    std::int32_t open = 0;
    for (const std::int32_t o : task_.achievers[fact]) {
      const Operator& op = operator_at(o);
      if (op.cost == 0 && op.supporter_value != kUnreached && candidate_in_zone(op) == kNone) ++open;
    }
    return open;
  }

  // What must be reached outside the zone before an operator counts as applicable there.
  template <LmCutRule kRule>
  std::span<const std::int32_t> required(const Operator& op) const {
    if constexpr (kRule == LmCutRule::kFGlobal) {
      return preconditions(op);
    } else {
      return {&op.supporter, 1};
    }
  }

  template <LmCutRule kRule>
  bool needs_zone(const Operator& op) const {
    if constexpr (kRule == LmCutRule::kDelayOpen || kRule == LmCutRule::kFGlobal) {
      return std::ranges::any_of(preconditions(op), [this](std::int32_t fact) { return in_zone(fact); });
    } else {
      return in_zone(op.supporter);
    }
  }

  bool enters_zone(const Operator& op) const {
    return std::ranges::any_of(effects(op), [this](std::int32_t fact) { return in_zone(fact); });
  }

  bool is_reached(std::int32_t fact) const {
    return value(fact) < goal_value_ || fact_marks_[index(fact)].reached == round_;
  }

  // The operators that enter the zone and are applicable outside it.
  template <LmCutRule kRule>
  void find_cut() {
    visit_.clear();
    waiting_entries_.clear();
    for (const std::int32_t o : entering_) {
      const Operator& op = operator_at(o);
      if (needs_zone<kRule>(op)) continue;
      if (wait_for_required<kRule>(o, op) == 0) cut_.push_back(o);
    }
    while (!visit_.empty()) {
      const std::int32_t fact = visit_.back();
      visit_.pop_back();
      if (!is_reached(fact)) visit<kRule>(fact);
    }
  }

  // Registers an operator with each required fact that is not known to be reached; returns how many these
  // are.
  template <LmCutRule kRule>
  std::int32_t wait_for_required(std::int32_t o, const Operator& op) {
    std::int32_t missing = 0;
    for (const std::int32_t fact : required<kRule>(op)) {
      if (is_reached(fact)) continue;
      ++missing;
      FactMarks& marks = fact_marks_[index(fact)];
      if (marks.visited != round_) {
        marks.visited = round_;
        marks.waiting = kNone;
        visit_.push_back(fact);
      }
      waiting_entries_.push_back({o, marks.waiting});
      marks.waiting = static_cast<std::int32_t>(waiting_entries_.size()) - 1;
    }
    unsatisfied_[index(o)] = missing;
    return missing;
  }

  // Looks for an operator that gives a fact outside the zone.
  template <LmCutRule kRule>
  void visit(std::int32_t fact) {
    for (const std::int32_t o : task_.achievers[fact]) {
      Operator& op = operator_at(o);
      if (op.seen == round_ || op.supporter_value == kUnreached) continue;
      if (needs_zone<kRule>(op) || enters_zone(op)) continue;
      op.seen = round_;
      if (wait_for_required<kRule>(o, op) > 0) continue;
      reach_effects(op);
      return;
    }
  }

  // An operator is applicable outside the zone and does not enter it: so are those that only waited for its
  // effects.
  void reach_effects(const Operator& first) {
    mark_reached(first);
    while (!reached_.empty()) {
      const FactMarks& marks = fact_marks_[index(reached_.back())];
      reached_.pop_back();
      if (marks.visited != round_) continue;
      for (std::int32_t entry = marks.waiting; entry != kNone; entry = waiting_entries_[index(entry)].next) {
        const std::int32_t o = waiting_entries_[index(entry)].op;
        if (--unsatisfied_[index(o)] > 0) continue;
        const Operator& op = operator_at(o);
        if (enters_zone(op)) {
          cut_.push_back(o);
        } else {
          mark_reached(op);
        }
      }
    }
  }

  void mark_reached(const Operator& op) {
    for (const std::int32_t effect : effects(op)) {
      if (is_reached(effect)) continue;
      fact_marks_[index(effect)].reached = round_;
      reached_.push_back(effect);
    }
  }

  // The operators of the cut as groups, each once.
  const std::vector<std::int32_t>& cut_groups() const { return task_.shares_costs ? cut_groups_ : cut_; }

  template <class Visit>
  void for_each_piece(std::int32_t group, Visit visit) {
    if (!task_.shares_costs) {
      visit(group);
    } else {
      for (const std::int32_t o : task_.pieces[group]) visit(o);
    }
  }

  void find_cut_groups() {
    cut_groups_.clear();
    for (const std::int32_t o : cut_) cut_groups_.push_back(task_.group[index(o)]);
    std::ranges::sort(cut_groups_);
    cut_groups_.erase(std::ranges::unique(cut_groups_).begin(), cut_groups_.end());
  }

  void take_cost(std::int32_t o, Value amount) {
    Operator& op = operator_at(o);
    changed_.push_back(o);
    op.cost -= amount;
    // A piece that cannot be reached may share its group with one of the cut: its sums mean nothing.
    const Value reached = op.supporter_value == kUnreached ? kUnreached : op.supporter_value + op.cost;
    for (const std::int32_t effect : effects(op)) {
      if (op.cost == 0) ++fact_at(effect).zero_cost_achievers;
      improve(effect, reached);
    }
  }

  // Takes the cheapest operator's cost from every group of the cut; that cost is the landmark's.
  Value apply_cut() {
    Value least = kUnreached;
    for (const std::int32_t o : cut_) least = std::min(least, operator_at(o).cost);
    if (least <= 0 || least == kUnreached) throw std::logic_error("LM-cut: a cut without a positive cost");
    if (task_.shares_costs) {
      find_cut_groups();
      for (const std::int32_t g : cut_groups_) {
        for (const std::int32_t o : task_.pieces[g]) take_cost(o, least);
      }
    } else {
      for (const std::int32_t o : cut_) take_cost(o, least);
    }
    return least;
  }

  RelaxedTask task_;
  std::vector<FactState> base_facts_;
  std::vector<FactState>
      start_facts_;  // what an evaluation starts with: base_facts_ or what an expansion left over
  std::vector<FactState> facts_;
  std::vector<FactMarks> fact_marks_;
  std::vector<Operator> operators_;  // one more at the end, where the last one's effects end
  std::vector<std::int32_t> pool_;   // preconditions and effects of all operators
  std::vector<Value>
      start_costs_;  // what an evaluation starts with: the task's or what an expansion left over
  std::vector<std::int32_t> initial_unsatisfied_;
  std::vector<std::int32_t> unsatisfied_;
  FactQueue<Value, QueueOrder::kLifo> queue_;

  std::uint32_t round_ = 0;  // number of the present cut over all evaluations; 0 is "never"
  std::uint32_t hit_round_ = 0;
  Value goal_value_ = 0;
  std::vector<std::int32_t> zone_;               // facts of the zone whose achievers were not looked at yet
  std::vector<std::int32_t> waiting_operators_;  // zero-cost operators with a choice
  std::vector<std::int32_t> entering_;           // operators with a cost that give a fact of the zone
  std::vector<std::int32_t> cut_;
  std::vector<std::int32_t> cut_groups_;
  std::vector<std::int32_t> changed_;  // operators whose cost is not the start cost anymore
  std::vector<std::int32_t> visit_;
  std::vector<std::int32_t> reached_;
  std::vector<WaitingEntry> waiting_entries_;

  bool is_expanded_ = false;
  Cost expanded_value_ = 0;
  std::vector<std::int32_t> expanded_;         // the expanded state, if operators have cases
  std::vector<std::int32_t> landmark_groups_;  // of the expanded state, one landmark after the other
  std::vector<std::size_t> landmark_ends_;
  std::vector<Value> landmark_costs_;
};

}  // namespace plumbline
