// The R-closure of a dominance function: if a label can be executed for the benefit of one factor and all
// others can be put back in order, there is a bound for that factor alone. See docs/theory/dominance.md,
// "Closures".
//
// Works from below: every table on the way is sound, so it may be stopped at any moment. Tables are closed
// under D(a, b) + D(b, c) once, by Floyd and Warshall; later entries are inserted one by one, which touches
// only the rows that get better.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dominance/system.hpp"
#include "search/search.hpp"

namespace plumbline {

class DominanceClosure {
 public:
  // `heights` are the goal distances inside the factors, one after the other.
  DominanceClosure(const DominanceSystem& system, std::vector<DominanceTable> tables,
                   const std::int32_t* heights, Monitor& monitor)
      : system_(system), tables_(std::move(tables)), monitor_(monitor) {
    for (const DominanceFactor& factor : system.factors) {
      heights_.emplace_back(heights, heights + factor.n_states);
      heights += factor.n_states;
      returns_.emplace_back(static_cast<std::size_t>(factor.n_groups), 0);
    }
  }

  void run() {
    for (const DominanceTable& table : tables_) close(table);
    std::vector<bool> rose(tables_.size(), true);
    while (std::find(rose.begin(), rose.end(), true) != rose.end()) {
      for (std::size_t j = 0; j < tables_.size(); ++j) {
        if (rose[j]) recompute_returns(j);
      }
      std::fill(rose.begin(), rose.end(), false);
      for (std::int32_t l = 0; l < system_.n_labels(); ++l) raise(l, rose);
    }
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  // D(a, c) >= D(a, b) + D(b, c), by Floyd and Warshall.
  void close(const DominanceTable& table) {
    const auto n = static_cast<std::int32_t>(table.n);
    for (std::int32_t b = 0; b < n; ++b) {
      monitor_.check();
      const Value* through = table.row(b);
      for (std::int32_t a = 0; a < n; ++a) {
        Value* row = table.row(a);
        const Value before = row[b];
        if (before == kNoValue || a == b) continue;
        monitor_.expanded += n;
        add_through(row, before, through, table.n);
      }
      monitor_.check_expansions();
    }
  }

  // R_j: go to where a label applies, execute it, and come back to where you were.
  void recompute_returns(std::size_t j) {
    const DominanceFactor& factor = system_.factors[j];
    const DominanceTable& table = tables_[j];
    std::vector<Value> transposed(table.n * table.n);
    for (std::size_t s = 0; s < table.n; ++s) {
      for (std::size_t t = 0; t < table.n; ++t) transposed[t * table.n + s] = table.data[s * table.n + t];
    }
    std::vector<Value> best(table.n);
    for (std::int32_t group = 1; group < factor.n_groups; ++group) {
      std::fill(best.begin(), best.end(), kNoValue);
      for (const Arc arc : factor.by_group[group]) {
        monitor_.check();
        const Value* there = table.row(arc.from);                         // D(u, x)
        const Value* back = transposed.data() + index(arc.to) * table.n;  // D(x, u')
        for (std::size_t x = 0; x < table.n; ++x) {
          const Value sum = there[x] + back[x];
          const Value value = sum < -kRange ? kNoValue : sum;
          best[x] = value > best[x] ? value : best[x];
        }
      }
      returns_[j][index(group)] = *std::min_element(best.begin(), best.end());
    }
  }

  // A step x -> y of factor i can be undone in the bound: h* rises by at most c(l) - sum R_j from y to x.
  void raise(std::int32_t label, std::vector<bool>& rose) {
    std::int64_t total = -system_.costs[index(label)];
    std::int32_t missing = -1;
    for (const std::int32_t j : system_.relevant[label]) {
      const Value value = returns_[index(j)][index(system_.group(j, label))];
      if (value != kNoValue) {
        total += value;
      } else if (missing >= 0) {
        return;
      } else {
        missing = j;
      }
    }
    for (const std::int32_t i : system_.relevant[label]) {
      if (missing >= 0 && missing != i) continue;
      const std::int32_t group = system_.group(i, label);
      const std::int64_t own = missing == i ? 0 : returns_[index(i)][index(group)];
      const std::vector<std::int32_t>& height = heights_[index(i)];
      for (const Arc arc : system_.factor(i).by_group[group]) {
        const std::int64_t most = std::int64_t{height[index(arc.to)]} - height[index(arc.from)];
        const Value value = lowered(std::min(most, total - own));
        if (arc.from == arc.to || value <= tables_[index(i)].row(arc.to)[arc.from]) continue;
        insert(tables_[index(i)], arc.to, arc.from, value);
        rose[index(i)] = true;
      }
    }
  }

  // D(s, t) >= value, in a closed table that stays closed.
  void insert(const DominanceTable& table, std::int32_t s, std::int32_t t, Value value) {
    monitor_.check_expansions();
    monitor_.check();
    const Value* beyond = table.row(t);
    for (std::int32_t a = 0; a < static_cast<std::int32_t>(table.n); ++a) {
      Value* row = table.row(a);
      const Value through = row[s] + value;
      if (through < -kRange || through <= row[t]) continue;  // then nothing behind t gets better either
      monitor_.expanded += static_cast<std::int64_t>(table.n);
      add_through(row, through, beyond, table.n);
    }
  }

  // row[c] >= before + beyond[c] for all c.
  static void add_through(Value* row, Value before, const Value* beyond, std::size_t n) {
    for (std::size_t c = 0; c < n; ++c) {
      const Value sum = before + beyond[c];  // far below the range if there is nothing to add
      const Value value = sum < -kRange ? kNoValue : sum;
      row[c] = value > row[c] ? value : row[c];
    }
  }

  const DominanceSystem& system_;
  std::vector<DominanceTable> tables_;
  Monitor& monitor_;
  std::vector<std::vector<std::int32_t>> heights_;
  std::vector<std::vector<Value>> returns_;  // R_j by factor and group
};

}  // namespace plumbline
