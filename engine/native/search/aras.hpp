// Aras: makes a given plan cheaper, step by step, until it is stopped (Nakhost and Müller 2010, "Action
// Elimination and Plan Neighborhood Graph Search"). See docs/theory/searches.md, "Plan improvement".
//
// Action elimination drops actions that the rest of the plan can do without. Plan neighborhood graph search
// explores breadth first around all states of the plan at once and takes the cheapest path through what it
// has seen; the neighborhood doubles until that path is cheaper than the plan, then the search starts
// again around the new plan. When nothing is left to explore, the plan is proved optimal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/bucket_queue.hpp"
#include "core/compiled_task.hpp"
#include "core/memory.hpp"
#include "core/packed_operators.hpp"
#include "core/state_table.hpp"
#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

// A plan by positions in the generator's order.
using PackedPlan = std::vector<std::size_t>;

// The states explored around a plan, with the transitions between them. States are numbered as they are found
// and expanded in that order, so that the table is its own queue.
class PlanNeighborhood {
 public:
  PlanNeighborhood(const CompiledTask& compiled, const PartialState& goal, std::int64_t max_states,
                   Monitor& monitor)
      : compiled_(compiled),
        goal_(goal),
        max_states_(max_states),
        monitor_(monitor),
        table_(compiled.packing.n_words(), monitor.account()),
        edges_(monitor.account()),
        edge_ends_(monitor.account()),
        state_(table_.n_words()),
        successor_(table_.n_words()) {}

  // The states along a plan come first: the start is number 0.
  void add_plan(const std::vector<Word>& start, const PackedPlan& plan) {
    state_ = start;
    insert(state_);
    for (const std::size_t position : plan) {
      compiled_.operators.apply(position, state_.data(), successor_.data());
      std::swap(state_, successor_);
      insert(state_);
    }
    n_plan_states_ = table_.size();
  }

  // Expands up to the given number of states in total, but at least all states of the plan.
  void extend(std::int64_t n_expanded) {
    const auto wanted = std::max(n_expanded, static_cast<std::int64_t>(n_plan_states_));
    while (!is_exhausted() && static_cast<std::int64_t>(edge_ends_.size()) < wanted) {
      if (table_.size() > max_states_) throw MemoryLimitReached{};
      monitor_.check_expansions();
      monitor_.check();
      expand(static_cast<StateId>(edge_ends_.size()));
      ++monitor_.expanded;
    }
  }

  bool is_exhausted() const { return edge_ends_.size() == table_.size(); }

  // The cheapest path from the start to a goal, if it is cheaper than `bound`: Dijkstra over the stored
  // edges.
  std::optional<PackedPlan> cheapest_plan(Cost bound) {
    BucketQueue<Cost, StateId, Ties::kNewestFirst> open(monitor_.account());
    for (StateId id = 0; id < table_.size(); ++id) table_.payload(id) = Node{};
    table_.payload(0).g = 0;
    open.push(0, 0);
    for (std::int64_t popped = 1; !open.empty(); ++popped) {
      if (popped % 1024 == 0) monitor_.check();
      const Cost g = open.min_key();
      const StateId id = open.pop();
      if (g >= bound) return std::nullopt;
      if (g > table_.payload(id).g) continue;
      table_.load(id, state_.data());
      if (goal_.holds_in(state_.data())) return path_to(id);
      if (id >= edge_ends_.size()) continue;
      for (std::size_t i = id == 0 ? 0 : edge_ends_[id - 1]; i < edge_ends_[id]; ++i) {
        const Edge edge = edges_[i];
        Node& node = table_.payload(edge.to);
        const Cost through = g + compiled_.costs[edge.position];
        if (through >= node.g) continue;
        node = {through, id, edge.position};
        open.push(through, edge.to);
      }
    }
    return std::nullopt;
  }

 private:
  struct Node {
    Cost g = kInfinity;
    StateId parent = kNoState;
    std::uint32_t position = 0;
  };
  struct Edge {
    StateId to;
    std::uint32_t position;
  };

  StateId insert(const std::vector<Word>& state) {
    return table_.insert(state.data(), table_.hash(state.data())).id;
  }

  void expand(StateId id) {
    table_.load(id, state_.data());
    compiled_.generator.for_each_applicable(state_.data(), [&](std::int32_t begin, std::int32_t end) {
      for (auto position = static_cast<std::size_t>(begin); position < static_cast<std::size_t>(end);
           ++position) {
        compiled_.operators.apply(position, state_.data(), successor_.data());
        const StateId to = insert(successor_);
        ++monitor_.generated;
        if (to != id) edges_.push_back({to, static_cast<std::uint32_t>(position)});
      }
    });
    edge_ends_.push_back(edges_.size());
  }

  PackedPlan path_to(StateId id) const {
    PackedPlan plan;
    for (; table_.payload(id).parent != kNoState; id = table_.payload(id).parent) {
      plan.push_back(table_.payload(id).position);
    }
    std::reverse(plan.begin(), plan.end());
    return plan;
  }

  const CompiledTask& compiled_;
  const PartialState& goal_;
  std::int64_t max_states_;
  Monitor& monitor_;
  StateTable<0, Node> table_;
  Array<Edge> edges_;             // of the expanded states, in their order
  Array<std::size_t> edge_ends_;  // by expanded state
  StateId n_plan_states_ = 0;
  std::vector<Word> state_;
  std::vector<Word> successor_;
};

class Aras {
 public:
  // `first_size`: how many states the first neighborhood expands. The plan must be valid.
  Aras(const SearchRequest& request, const std::vector<std::int32_t>& plan, std::int64_t first_size,
       std::int64_t max_states, Monitor& monitor)
      : compiled_(request.compiled),
        goal_(request.goal, compiled_.packing),
        start_(static_cast<std::size_t>(compiled_.packing.n_words())),
        size_(first_size),
        max_states_(max_states),
        monitor_(monitor) {
    compiled_.pack(request.start.data(), start_.data());
    PackedPlan positions;
    for (const std::int32_t op : plan) positions.push_back(compiled_.position[static_cast<std::size_t>(op)]);
    set_plan(std::move(positions));
  }

  bool plan_is_valid() {
    std::vector<Word> state = start_;
    for (const std::size_t position : plan_) {
      if (!apply(position, state)) return false;
    }
    return goal_.holds_in(state.data());
  }

  // Looks for a cheaper plan. kSolved: plan() is one now; kNoCheaperPlan: proved, there is none. Limits of
  // memory and expansions end it only after a look at what was explored until then; after a limit it must not
  // be called again.
  Outcome improve() {
    if (!is_eliminated_) {
      is_eliminated_ = true;
      const Cost given_cost = cost_;
      drop_needless_actions();
      if (cost_ < given_cost) return Outcome::kSolved;
    }
    while (true) {
      const std::optional<Outcome> limit = extend();
      if (const auto cheaper = neighborhood_->cheapest_plan(cost_)) {
        set_plan(*cheaper);
        neighborhood_.reset();
        drop_needless_actions();
        return Outcome::kSolved;
      }
      if (limit) return *limit;
      if (neighborhood_->is_exhausted()) return Outcome::kNoCheaperPlan;
      size_ *= 2;
    }
  }

  Cost cost() const { return cost_; }

  std::vector<std::int32_t> plan() const {
    std::vector<std::int32_t> operators;
    for (const std::size_t position : plan_) operators.push_back(compiled_.generator.order()[position]);
    return operators;
  }

 private:
  // The limit that stopped it, if one did.
  std::optional<Outcome> extend() {
    if (!neighborhood_) {
      neighborhood_.emplace(compiled_, goal_, max_states_, monitor_);
      neighborhood_->add_plan(start_, plan_);
    }
    try {
      neighborhood_->extend(size_);
    } catch (const MemoryLimitReached&) {
      return Outcome::kMemoryLimit;
    } catch (const Interrupted& interrupted) {
      if (interrupted.outcome != Outcome::kExpansionLimit) throw;
      return interrupted.outcome;
    }
    return std::nullopt;
  }

  void set_plan(PackedPlan plan) {
    plan_ = std::move(plan);
    cost_ = cost_of(plan_);
    monitor_.best = cost_;
  }

  // Action elimination: leaves out each action, together with all that then become inapplicable, if what
  // remains still reaches the goal.
  void drop_needless_actions() {
    std::vector<Word> before = start_;  // the state in which plan_[i] is applied
    for (std::size_t i = 0; i < plan_.size();) {
      monitor_.check();
      std::vector<Word> state = before;
      PackedPlan shorter(plan_.begin(), plan_.begin() + static_cast<std::ptrdiff_t>(i));
      for (std::size_t j = i + 1; j < plan_.size(); ++j) {
        if (apply(plan_[j], state)) shorter.push_back(plan_[j]);
      }
      if (goal_.holds_in(state.data())) {
        set_plan(std::move(shorter));
      } else {
        apply(plan_[i], before);
        ++i;
      }
    }
  }

  // False, and no change, if the operator is not applicable.
  bool apply(std::size_t position, std::vector<Word>& state) {
    if (!compiled_.preconditions[position].holds_in(state.data())) return false;
    compiled_.operators.apply(position, state.data(), successor_.data());
    std::swap(state, successor_);
    return true;
  }

  Cost cost_of(const PackedPlan& plan) const {
    Cost cost = 0;
    for (const std::size_t position : plan) cost = saturating_add(cost, compiled_.costs[position]);
    return cost;
  }

  const CompiledTask& compiled_;
  PartialState goal_;
  std::vector<Word> start_;
  std::vector<Word> successor_ = start_;
  std::int64_t size_;  // of the present neighborhood, in expanded states
  std::int64_t max_states_;
  Monitor& monitor_;
  PackedPlan plan_;
  Cost cost_ = 0;
  bool is_eliminated_ = false;
  std::optional<PlanNeighborhood> neighborhood_;
};

// An Aras with everything it refers to.
struct ArasRun {
  ArasRun(SearchRequest search_request, const std::vector<std::int32_t>& plan, std::int64_t first_size,
          std::int64_t max_states, const Limits& limits, Progress* progress)
      : request(std::move(search_request)),
        monitor(limits, progress),
        aras(request, plan, first_size, max_states, monitor) {}

  SearchRequest request;
  Monitor monitor;
  Aras aras;
};

}  // namespace plumbline
