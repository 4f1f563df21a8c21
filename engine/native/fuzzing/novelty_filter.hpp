// Accepts a state that has a set of facts, of one size, which no accepted state had. See
// docs/theory/fuzzing.md, "Novelty filter".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

class NoveltyFilter {
 public:
  // Derived variables say nothing new.
  NoveltyFilter(const Task& task, std::int32_t level) {
    for (std::int32_t v = 0; v < task.n_variables(); ++v) {
      const auto size = static_cast<std::size_t>(task.domain_sizes[static_cast<std::size_t>(v)]);
      if (!task.axioms.is_derived(v)) variables_.push_back({v, size});
    }
    level_ = std::min(static_cast<std::size_t>(level), variables_.size());
    std::size_t n_sets = 0;
    count_sets(0, level_, 1, n_sets);
    is_seen_.resize(n_sets);
  }

  // Whether the state was accepted.
  bool accept(const std::int32_t* values) {
    bool is_novel = false;
    std::size_t offset = 0;
    see(values, 0, level_, 0, 1, offset, is_novel);
    return is_novel;
  }

 private:
  static constexpr std::size_t kMostSets = std::size_t{1} << 31;

  struct Variable {
    std::int32_t number;
    std::size_t size;
  };

  void count_sets(std::size_t first, std::size_t left, std::size_t n, std::size_t& n_sets) const {
    if (left == 0) {
      n_sets += n;
      if (n_sets > kMostSets) throw std::bad_alloc{};
      return;
    }
    for (std::size_t v = first; v + left <= variables_.size(); ++v)
      count_sets(v + 1, left - 1, n * variables_[v].size, n_sets);
  }

  // Goes through the combinations of variables. The sets over the same ones are numbered like the digits of a
  // mixed-radix number; `offset` counts those of the combinations before.
  void see(const std::int32_t* values, std::size_t first, std::size_t left, std::size_t number, std::size_t n,
           std::size_t& offset, bool& is_novel) {
    if (left == 0) {
      is_novel = is_novel || !is_seen_[offset + number];
      is_seen_[offset + number] = true;
      offset += n;
      return;
    }
    for (std::size_t v = first; v + left <= variables_.size(); ++v) {
      const auto value = static_cast<std::size_t>(values[variables_[v].number]);
      see(values, v + 1, left - 1, number * variables_[v].size + value, n * variables_[v].size, offset,
          is_novel);
    }
  }

  std::vector<Variable> variables_;
  std::size_t level_;
  std::vector<bool> is_seen_;
};

}  // namespace plumbline
