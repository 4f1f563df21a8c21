// The nodes of a heuristic search: states with their best known path and their heuristic value, which is
// computed once. The number of words is left open here: evaluating a state costs far more than looking it up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/packed_operators.hpp"
#include "core/state_table.hpp"
#include "core/task.hpp"
#include "heuristics/heuristic.hpp"
#include "search/search.hpp"

namespace plumbline {

struct SearchNode {
  Cost g = kInfinity;
  Cost h = kInfinity;  // infinite: a dead end
  StateId parent = kNoState;
  std::uint32_t is_closed : 1 = 0;
  std::uint32_t is_tagged : 1 = 0;  // by AOCA*
  std::uint32_t position : 30 = 0;  // of the operator that leads here, in the generator's order
};

template <class Heuristic>
class SearchSpace {
 public:
  struct Successor {
    std::size_t position;
    Cost cost;
    StateId id;
    bool is_new;
  };

  SearchSpace(const SearchRequest& request, Heuristic& heuristic, Monitor& monitor)
      : compiled_(request.compiled),
        heuristic_(heuristic),
        monitor_(monitor),
        goal_(request.goal, compiled_.packing),
        table_(compiled_.packing.n_words(), monitor.account()),
        state_(table_.n_words()),
        successor_(table_.n_words()),
        start_(request.start),
        values_(request.start.size()) {}

  StateId size() const { return table_.size(); }
  SearchNode& node(StateId id) { return table_.payload(id); }

  // The start node is open with g = 0 and evaluated; nothing if its state is a dead end.
  StateId add_start() {
    const StateId id = add(start_);
    node(id).g = 0;
    return id;
  }

  // A state that no operator led to, evaluated; it has no path yet.
  StateId add(const std::vector<std::int32_t>& values) {
    std::vector<Word> words(table_.n_words());
    compiled_.pack(values.data(), words.data());
    const auto inserted = table_.insert(words.data(), table_.hash(words.data()));
    if (inserted.is_new) evaluate(inserted.id, words.data());
    return inserted.id;
  }

  bool is_goal(StateId id) {
    table_.load(id, state_.data());
    return goal_.holds_in(state_.data());
  }

  // Computes and stores h of a new state; infinite for dead ends.
  Cost evaluate(StateId id) {
    table_.load(id, successor_.data());
    return evaluate(id, successor_.data());
  }

  // The same for a new state that an operator leads to; what an incremental heuristic learns from the state
  // before it serves all successors evaluated in a row.
  Cost evaluate_successor(StateId parent, std::size_t position, StateId id) {
    if constexpr (IncrementalHeuristic<Heuristic>) {
      if (expanded_ != parent) {
        heuristic_.expand(unpacked(parent));
        expanded_ = parent;
      }
      monitor_.check();
      ++monitor_.evaluated;
      return node(id).h = heuristic_.evaluate_successor(unpacked(id), compiled_.generator.order()[position]);
    } else {
      return evaluate(id);
    }
  }

  // The applicable operators of a state, by position; valid until the next call.
  const std::vector<std::size_t>& applicable(StateId id) {
    applicable_.clear();
    table_.load(id, state_.data());
    compiled_.generator.for_each_applicable(state_.data(), [this](std::int32_t begin, std::int32_t end) {
      for (std::int32_t i = begin; i < end; ++i) applicable_.push_back(static_cast<std::size_t>(i));
    });
    return applicable_;
  }

  Successor successor(StateId id, std::size_t position) {
    table_.load(id, state_.data());
    compiled_.operators.apply(position, state_.data(), successor_.data());
    const auto inserted = table_.insert(successor_.data(), table_.hash(successor_.data()));
    ++monitor_.generated;
    return {position, compiled_.costs[position], inserted.id, inserted.is_new};
  }

  void set_path(StateId id, StateId parent, std::size_t position, Cost g) {
    SearchNode& reached = node(id);
    reached.g = g;
    reached.parent = parent;
    reached.position = static_cast<std::uint32_t>(position) & 0x3FFFFFFFu;
  }

  Cost cost(std::size_t position) const { return compiled_.costs[position]; }

  // Along parent pointers; the cost is that of the operators, which may be less than the node's g.
  SearchResult solution(StateId goal) {
    SearchResult result;
    result.outcome = Outcome::kSolved;
    result.cost = 0;
    for (StateId id = goal; node(id).parent != kNoState; id = node(id).parent) {
      result.plan.push_back(compiled_.generator.order()[node(id).position]);
      result.cost += compiled_.costs[node(id).position];
    }
    std::reverse(result.plan.begin(), result.plan.end());
    return result;
  }

 private:
  const std::int32_t* unpacked(StateId id) {
    table_.load(id, successor_.data());
    compiled_.packing.unpack(successor_.data(), values_.data());
    return values_.data();
  }

  Cost evaluate(StateId id, const Word* words) {
    monitor_.check();
    ++monitor_.evaluated;
    compiled_.packing.unpack(words, values_.data());
    return node(id).h = heuristic_(values_.data());
  }

  const CompiledTask& compiled_;
  Heuristic& heuristic_;
  Monitor& monitor_;
  PartialState goal_;
  StateTable<0, SearchNode> table_;
  std::vector<Word> state_;
  std::vector<Word> successor_;
  const std::vector<std::int32_t>& start_;
  std::vector<std::int32_t> values_;
  std::vector<std::size_t> applicable_;
  StateId expanded_ = kNoState;  // by the heuristic
};

}  // namespace plumbline
