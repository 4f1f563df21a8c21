// Subsets of the values of every variable, as bits: what a state of a Cartesian abstraction stands for.
// A variable of at most 64 values lies in one word, a larger one has words of its own.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/state_packing.hpp"
#include "core/task.hpp"

namespace plumbline {

class ValueSets {
 public:
  explicit ValueSets(const std::vector<std::int32_t>& domain_sizes) {
    std::int32_t free_bits = 0;  // in the last word
    for (const std::int32_t size : domain_sizes) {
      if (size > free_bits) {
        n_words_ += size <= 64 ? 1 : (size + 63) / 64;
        free_bits = size <= 64 ? 64 : 0;
      }
      const std::int32_t n = size <= 64 ? 1 : (size + 63) / 64;
      ranges_.push_back(
          {n_words_ - n, n, size <= 64 ? 64 - free_bits : 0, size <= 64 ? ones(size) : ~Word{0}});
      if (size <= 64) free_bits -= size;
    }
    words_.resize(index(n_words_));
    for (std::size_t v = 0; v < domain_sizes.size(); ++v) {
      for (std::int32_t x = 0; x < domain_sizes[v]; ++x) add(0, {static_cast<std::int32_t>(v), x});
    }
  }

  // Set 0 has all values. The copy's number is the next one.
  void add_copy(std::int32_t set) {
    const std::size_t begin = index(set) * index(n_words_);
    words_.resize(words_.size() + index(n_words_));
    std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(begin), n_words_,
                words_.end() - static_cast<std::ptrdiff_t>(n_words_));
  }

  void add(std::int32_t set, Fact fact) { *word(set, fact) |= bit(fact); }
  void remove(std::int32_t set, Fact fact) { *word(set, fact) &= ~bit(fact); }
  bool contains(std::int32_t set, Fact fact) const { return (*word(set, fact) & bit(fact)) != 0; }

  bool contains(std::int32_t set, std::span<const Fact> facts) const {
    return std::ranges::all_of(facts, [&](Fact fact) { return contains(set, fact); });
  }

  bool intersects(std::int32_t a, std::int32_t b, std::int32_t variable) const {
    const Range& range = ranges_[index(variable)];
    const Word* first = words_.data() + index(a) * index(n_words_) + index(range.first);
    const Word* second = words_.data() + index(b) * index(n_words_) + index(range.first);
    const Word mask = range.mask << range.shift;
    for (std::int32_t i = 0; i < range.n_words; ++i) {
      if ((first[i] & second[i] & mask) != 0) return true;
    }
    return false;
  }

  std::int32_t count(std::int32_t set, std::int32_t variable) const {
    const Range& range = ranges_[index(variable)];
    const Word* words = words_.data() + index(set) * index(n_words_) + index(range.first);
    std::int32_t result = 0;
    for (std::int32_t i = 0; i < range.n_words; ++i) {
      result += std::popcount(words[i] & (range.mask << range.shift));
    }
    return result;
  }

  std::size_t bytes_per_set() const { return index(n_words_) * sizeof(Word); }

 private:
  struct Range {
    std::int32_t first;
    std::int32_t n_words;
    std::int32_t shift;
    Word mask;  // before shifting
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  static Word ones(std::int32_t n) { return n == 64 ? ~Word{0} : (Word{1} << n) - 1; }

  Word bit(Fact fact) const { return Word{1} << ((fact.value & 63) + ranges_[index(fact.variable)].shift); }
  const Word* word(std::int32_t set, Fact fact) const {
    return words_.data() + index(set) * index(n_words_) +
           index(ranges_[index(fact.variable)].first + (fact.value >> 6));
  }
  Word* word(std::int32_t set, Fact fact) {
    return const_cast<Word*>(static_cast<const ValueSets*>(this)->word(set, fact));
  }

  std::vector<Range> ranges_;
  std::int32_t n_words_ = 0;
  std::vector<Word> words_;
};

}  // namespace plumbline
