// What operators do to packed states: new word = (old word & keep) | set. Also tests for partial states.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/state_packing.hpp"
#include "core/state_table.hpp"
#include "core/task.hpp"

namespace plumbline {

// Whether a packed state agrees with a partial one; only the words that matter are looked at.
class PartialState {
 public:
  PartialState(std::span<const Fact> facts, const StatePacking& packing) {
    std::vector<Word> masks(static_cast<std::size_t>(packing.n_words()));
    std::vector<Word> values(masks.size());
    for (const Fact fact : facts) {
      const auto word = static_cast<std::size_t>(packing.slot(fact.variable).word);
      masks[word] |= packing.field_mask(fact.variable);
      values[word] |= packing.field(fact);
    }
    for (std::size_t word = 0; word < masks.size(); ++word) {
      if (masks[word] != 0) tests_.push_back({word, masks[word], values[word]});
    }
  }

  bool holds_in(const Word* words) const {
    for (const Test& test : tests_) {
      if ((words[test.word] & test.mask) != test.value) return false;
    }
    return true;
  }

 private:
  struct Test {
    std::size_t word;
    Word mask;
    Word value;
  };
  std::vector<Test> tests_;
};

// With a fixed number of words every operator touches all of them (no loop is left); otherwise it lists the
// words it changes. `order[i]` is the task's operator at position i.
template <int kWords>
class PackedOperators {
 public:
  PackedOperators(const Task& task, const StatePacking& packing, std::span<const std::int32_t> order)
      : width_(packing.n_words()) {
    std::vector<Word> keep(width_.words());
    std::vector<Word> set(width_.words());
    begin_.push_back(0);
    for (const std::int32_t op : order) {
      std::fill(keep.begin(), keep.end(), ~Word{0});
      std::fill(set.begin(), set.end(), Word{0});
      for (const Fact effect : task.effects[op]) {
        const auto word = static_cast<std::size_t>(packing.slot(effect.variable).word);
        keep[word] &= ~packing.field_mask(effect.variable);
        set[word] |= packing.field(effect);
      }
      for (std::size_t word = 0; word < width_.words(); ++word) {
        if (kWords > 0 || keep[word] != ~Word{0}) changes_.push_back({keep[word], set[word], word});
      }
      begin_.push_back(changes_.size());
    }
  }

  void apply(std::size_t position, const Word* from, Word* to) const {
    if constexpr (kWords > 0) {
      const Change* change = changes_.data() + position * kWords;
      for (int i = 0; i < kWords; ++i) to[i] = (from[i] & change[i].keep) | change[i].set;
    } else {
      std::memcpy(to, from, width_.words() * sizeof(Word));
      for (std::size_t i = begin_[position]; i < begin_[position + 1]; ++i) {
        const Change& change = changes_[i];
        to[change.word] = (to[change.word] & change.keep) | change.set;
      }
    }
  }

 private:
  struct Change {
    Word keep;
    Word set;
    std::size_t word;
  };
  Width<kWords> width_;
  std::vector<std::size_t> begin_;
  std::vector<Change> changes_;
};

}  // namespace plumbline
