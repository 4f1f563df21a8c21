// Where the variables of a state lie in 64-bit words. A variable never crosses a word, so that reading one is
// a shift and a mask, and an effect is one (keep, set) pair on one word.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

using Word = std::uint64_t;

struct Slot {
  std::int32_t word;
  std::int32_t shift;
  Word mask;  // of the value, before shifting
};

class StatePacking {
 public:
  // First fit by decreasing width: at most a few words more than the sum of bits needs.
  explicit StatePacking(const Task& task) : domain_sizes_(task.domain_sizes), slots_(domain_sizes_.size()) {
    std::vector<std::size_t> order(domain_sizes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return width(a) > width(b); });
    std::vector<std::int32_t> used{0};
    std::size_t first_with_room = 0;
    for (const std::size_t variable : order) {
      const std::int32_t bits = width(variable);
      std::size_t word = first_with_room;
      while (word < used.size() && used[word] + bits > 64) ++word;
      if (word == used.size()) used.push_back(0);
      slots_[variable] = {static_cast<std::int32_t>(word), bits == 0 ? 0 : used[word],
                          bits == 0 ? Word{0} : (Word{1} << bits) - 1};
      used[word] += bits;
      while (first_with_room + 1 < used.size() && used[first_with_room] == 64) ++first_with_room;
    }
    n_words_ = static_cast<std::int32_t>(used.size());
  }

  std::int32_t n_words() const { return n_words_; }
  std::int32_t n_variables() const { return static_cast<std::int32_t>(slots_.size()); }
  const Slot& slot(std::int32_t variable) const { return slots_[static_cast<std::size_t>(variable)]; }

  Word field(Fact fact) const {
    const Slot& s = slot(fact.variable);
    return static_cast<Word>(fact.value) << s.shift;
  }
  Word field_mask(std::int32_t variable) const {
    const Slot& s = slot(variable);
    return s.mask << s.shift;
  }

  // False if a value is outside its variable's domain.
  bool pack(const std::int32_t* values, Word* words) const {
    std::fill_n(words, n_words_, Word{0});
    for (std::size_t v = 0; v < slots_.size(); ++v) {
      if (values[v] < 0 || values[v] >= domain_sizes_[v]) return false;
      words[slots_[v].word] |= static_cast<Word>(values[v]) << slots_[v].shift;
    }
    return true;
  }

  void unpack(const Word* words, std::int32_t* values) const {
    for (std::size_t v = 0; v < slots_.size(); ++v) {
      values[v] = static_cast<std::int32_t>((words[slots_[v].word] >> slots_[v].shift) & slots_[v].mask);
    }
  }

 private:
  std::int32_t width(std::size_t variable) const {
    return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(domain_sizes_[variable] - 1)));
  }

  std::vector<std::int32_t> domain_sizes_;
  std::vector<Slot> slots_;
  std::int32_t n_words_ = 1;
};

}  // namespace plumbline
