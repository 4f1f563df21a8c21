// All sequences of a few operators from a state, level by level: the distinct states of each level with the
// cheapest way there. See docs/theory/oracles.md, "Look-ahead".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/state_store.hpp"
#include "core/task.hpp"

namespace plumbline {

class FirstSteps {
 public:
  // Reached by an operator from a row of the level before; of equally cheap ways the first one.
  struct Place {
    std::int32_t state;
    Cost cost;
    std::int32_t row;
    std::int32_t op;
  };
  using Level = std::vector<Place>;  // by state

  // The store must outlive this object.
  explicit FirstSteps(StateStore& store) : store_(store) {}

  const StateStore& store() const { return store_; }
  const std::vector<Level>& levels() const { return levels_; }

  void begin(std::int32_t start) { levels_.assign(1, Level{{start, 0, -1, -1}}); }

  // One more level: the successors of all states of the last one that are not goals.
  void extend() {
    const Level& last = levels_.back();
    Level next;
    for (std::size_t row = 0; row < last.size(); ++row) {
      const Place& place = last[row];
      if (is_goal(place.state)) continue;
      std::int64_t begin[2] = {0, 0};
      store_.count_applicable(1, &place.state, begin);
      operators_.resize(static_cast<std::size_t>(begin[1]));
      store_.applicable(1, &place.state, operators_.data());
      for (const std::int32_t op : operators_) {
        std::int32_t successor = -1;
        store_.apply(1, &place.state, &op, &successor);
        next.push_back({successor, place.cost + store_.task().costs[static_cast<std::size_t>(op)],
                        static_cast<std::int32_t>(row), op});
      }
    }
    std::ranges::sort(next, {}, [](const Place& p) { return std::tuple(p.state, p.cost, p.row, p.op); });
    const auto same = std::ranges::unique(next, {}, &Place::state);
    next.erase(same.begin(), same.end());
    levels_.push_back(std::move(next));
  }

  // The row of the cheapest goal on the last level, of equals the first; -1: there is none.
  std::int64_t goal() {
    const Level& last = levels_.back();
    std::int64_t best = -1;
    for (std::size_t row = 0; row < last.size(); ++row) {
      const bool is_better = best < 0 || last[row].cost < last[static_cast<std::size_t>(best)].cost;
      if (is_better && is_goal(last[row].state)) best = static_cast<std::int64_t>(row);
    }
    return best;
  }

  // The way to a row of a level: as many operators as the number of the level, and one more state.
  void way(std::size_t level, std::int64_t row, std::int32_t* states, std::int32_t* operators) const {
    for (std::size_t number = level + 1; number-- > 0;) {
      const Place& place = levels_[number][static_cast<std::size_t>(row)];
      states[number] = place.state;
      if (number > 0) operators[number - 1] = place.op;
      row = place.row;
    }
  }

 private:
  bool is_goal(std::int32_t state) {
    std::uint8_t answer = 0;
    store_.is_goal(1, &state, &answer);
    return answer != 0;
  }

  StateStore& store_;
  std::vector<Level> levels_;
  std::vector<std::int32_t> operators_;
};

}  // namespace plumbline
