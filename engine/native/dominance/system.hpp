// Factored transition systems as the dominance kernels see them, and the values they compute with. See
// docs/theory/dominance.md, "Factored transition system".
//
// In a factor, labels with the same transitions form a group. Group 0 is special: labels that change nothing
// there and apply everywhere; it has no stored transitions, every state has its self-loop. A label leads from
// a state to at most one state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

// Finite values lie in [-kRange, kRange]; "no value" is so far below that it stays below the range when a
// finite value or another "no value" is added, and no sum of two overflows. What would leave the range is
// lowered, which is sound.
using Value = std::int32_t;
inline constexpr Value kRange = Value{1} << 27;
inline constexpr Value kNoValue = -(Value{1} << 29);

inline Value lowered(std::int64_t value) {
  if (value < -kRange) return kNoValue;
  return static_cast<Value>(value > kRange ? kRange : value);
}

struct Arc {
  std::int32_t from;
  std::int32_t to;
};

struct GroupArc {
  std::int32_t group;
  std::int32_t to;
};

template <class T>
struct Rows {
  std::vector<std::size_t> begin;
  std::vector<T> entries;

  std::span<const T> operator[](std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    return {entries.data() + begin[r], begin[r + 1] - begin[r]};
  }
};

struct DominanceFactor {
  std::int32_t n_states = 0;
  std::int32_t n_groups = 1;
  Rows<Arc> by_group;
  Rows<GroupArc> by_source;
  std::vector<std::int32_t> group_of;  // by label; one more entry for doing nothing, which is in group 0

  // False if a number is out of range.
  bool fill(std::int64_t n_arcs, const std::int32_t* groups, const std::int32_t* sources,
            const std::int32_t* targets) {
    by_group.begin.assign(static_cast<std::size_t>(n_groups) + 1, 0);
    by_source.begin.assign(static_cast<std::size_t>(n_states) + 1, 0);
    for (std::int64_t a = 0; a < n_arcs; ++a) {
      if (groups[a] < 1 || groups[a] >= n_groups) return false;
      if (sources[a] < 0 || sources[a] >= n_states || targets[a] < 0 || targets[a] >= n_states) return false;
      ++by_group.begin[static_cast<std::size_t>(groups[a]) + 1];
      ++by_source.begin[static_cast<std::size_t>(sources[a]) + 1];
    }
    for (std::size_t g = 1; g < by_group.begin.size(); ++g) by_group.begin[g] += by_group.begin[g - 1];
    for (std::size_t x = 1; x < by_source.begin.size(); ++x) by_source.begin[x] += by_source.begin[x - 1];
    by_group.entries.resize(static_cast<std::size_t>(n_arcs));
    by_source.entries.resize(static_cast<std::size_t>(n_arcs));
    std::vector<std::size_t> group_end(by_group.begin.begin(), by_group.begin.end() - 1);
    std::vector<std::size_t> source_end(by_source.begin.begin(), by_source.begin.end() - 1);
    for (std::int64_t a = 0; a < n_arcs; ++a) {
      by_group.entries[group_end[static_cast<std::size_t>(groups[a])]++] = {sources[a], targets[a]};
      by_source.entries[source_end[static_cast<std::size_t>(sources[a])]++] = {groups[a], targets[a]};
    }
    return true;
  }
};

struct DominanceSystem {
  std::vector<Cost> costs;  // by label; one more entry for doing nothing
  std::vector<DominanceFactor> factors;
  Rows<std::int32_t> relevant;  // by label (and nothing): the factors where it is not in group 0, ascending

  std::int32_t n_labels() const { return static_cast<std::int32_t>(costs.size()) - 1; }
  std::int32_t noop() const { return n_labels(); }
  std::int32_t n_factors() const { return static_cast<std::int32_t>(factors.size()); }
  const DominanceFactor& factor(std::int32_t i) const { return factors[static_cast<std::size_t>(i)]; }
  std::int32_t group(std::int32_t i, std::int32_t label) const {
    return factor(i).group_of[static_cast<std::size_t>(label)];
  }

  // Fills `relevant`, when all factors are there.
  void index_labels() {
    relevant.begin.assign(1, 0);
    relevant.entries.clear();
    for (std::int32_t l = 0; l <= n_labels(); ++l) {
      for (std::int32_t i = 0; i < n_factors(); ++i) {
        if (group(i, l) != 0) relevant.entries.push_back(i);
      }
      relevant.begin.push_back(relevant.entries.size());
    }
  }

  // Where each factor's square table begins in one long array of all tables.
  std::vector<std::size_t> table_offsets() const {
    std::vector<std::size_t> offsets{0};
    for (const DominanceFactor& f : factors) {
      offsets.push_back(offsets.back() +
                        static_cast<std::size_t>(f.n_states) * static_cast<std::size_t>(f.n_states));
    }
    return offsets;
  }
};

// D_i of one factor: row s, column t says how much better t is than s.
struct DominanceTable {
  Value* data;
  std::size_t n;

  Value* row(std::int32_t s) const { return data + static_cast<std::size_t>(s) * n; }
};

inline std::vector<DominanceTable> split_tables(const DominanceSystem& system, Value* tables) {
  const std::vector<std::size_t> offsets = system.table_offsets();
  std::vector<DominanceTable> split;
  for (std::size_t i = 0; i < system.factors.size(); ++i) {
    split.push_back({tables + offsets[i], static_cast<std::size_t>(system.factors[i].n_states)});
  }
  return split;
}

}  // namespace plumbline
