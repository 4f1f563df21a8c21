// What operators do to packed states: new word = (old word & keep) | set. Also tests for partial states.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "core/packed_axioms.hpp"
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

// What comes after the unconditional effects: conditional ones and axioms. Plain tasks have neither.
class LaterEffects {
 public:
  LaterEffects(const Task& task, const StatePacking& packing, const PackedAxioms* axioms,
               std::span<const std::int32_t> order)
      : axioms_(axioms) {
    for (const std::int32_t op : order) {
      begin_.push_back(effects_.size());
      bool moves_axioms = false;
      const auto see = [&](Fact fact) {
        moves_axioms = moves_axioms || (axioms != nullptr && axioms->depends_on(fact.variable));
      };
      for (const Fact fact : task.effects[op]) see(fact);
      for (std::int32_t i = task.conditional.first(op); i < task.conditional.last(op); ++i) {
        const Fact fact = task.conditional.fact(i);
        see(fact);
        if (i == task.conditional.first(op) || !same_condition(task, i - 1, i))
          effects_.push_back({PartialState(task.conditional.conditions[i], packing), {}});
        effects_.back().changes.push_back({static_cast<std::size_t>(packing.slot(fact.variable).word),
                                           ~packing.field_mask(fact.variable), packing.field(fact)});
      }
      moves_axioms_.push_back(moves_axioms);
    }
    begin_.push_back(effects_.size());
  }

  // Conditions are those of the state before. Never inlined: the loops over successors stay small.
  [[gnu::noinline, gnu::cold]] void apply(std::size_t position, const Word* from, Word* to) const {
    for (std::size_t i = begin_[position]; i < begin_[position + 1]; ++i) {
      if (!effects_[i].condition.holds_in(from)) continue;
      for (const Change& change : effects_[i].changes)
        to[change.word] = (to[change.word] & change.keep) | change.set;
    }
    // Elsewhere the derived values are those of the state before, which were copied.
    if (moves_axioms_[position]) axioms_->extend(to);
  }

 private:
  struct Change {
    std::size_t word;
    Word keep;
    Word set;
  };
  struct Effects {  // with the same condition, one after the other
    PartialState condition;
    std::vector<Change> changes;
  };

  static bool same_condition(const Task& task, std::int32_t first, std::int32_t second) {
    return std::ranges::equal(task.conditional.conditions[first], task.conditional.conditions[second]);
  }

  const PackedAxioms* axioms_;
  std::vector<std::size_t> begin_;  // by position
  std::vector<Effects> effects_;
  std::vector<char> moves_axioms_;  // by position: whether derived values may change
};

// With a fixed number of words every operator touches all of them (no loop is left); otherwise it lists the
// words it changes. `order[i]` is the task's operator at position i. The axioms, if any, must outlive it.
template <int kWords>
class PackedOperators {
 public:
  PackedOperators(const Task& task, const StatePacking& packing, const PackedAxioms* axioms,
                  std::span<const std::int32_t> order)
      : width_(packing.n_words()) {
    if (!task.conditional.empty() || axioms != nullptr) later_.emplace(task, packing, axioms, order);
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

  // Whether the unconditional effects are all there is.
  bool is_plain() const { return !later_; }

  void apply(std::size_t position, const Word* from, Word* to) const {
    apply_plain(position, from, to);
    if (later_) [[unlikely]]
      later_->apply(position, from, to);
  }

  void apply_plain(std::size_t position, const Word* from, Word* to) const {
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
  std::optional<LaterEffects> later_;
};

}  // namespace plumbline
