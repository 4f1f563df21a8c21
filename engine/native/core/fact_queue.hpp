// A monotone priority queue of facts for relaxed explorations: small keys in buckets with a bitmap over them,
// the rare large keys in a binary heap. Equal keys leave in the order they came (kFifo) or the other way
// round (kLifo).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumbline {

enum class QueueOrder { kFifo, kLifo };

template <class Key, QueueOrder kOrder>
class FactQueue {
 public:
  FactQueue() { head_.fill(-1); }

  // Keys pushed must not be smaller than the last key popped.
  void push(Key key, std::int32_t fact) {
    if (key >= kBuckets) {
      push_large(key, fact);
      return;
    }
    const auto bucket = static_cast<std::size_t>(key);
    const auto entry = static_cast<std::int32_t>(entries_.size());
    std::uint64_t& word = occupied_[bucket / 64];
    const std::uint64_t bit = std::uint64_t{1} << (bucket % 64);
    if constexpr (kOrder == QueueOrder::kLifo) {
      entries_.push_back({fact, head_[bucket]});
      head_[bucket] = entry;
    } else {
      entries_.push_back({fact, -1});
      if (word & bit) {
        entries_[static_cast<std::size_t>(tail_[bucket])].next = entry;
      } else {
        head_[bucket] = entry;
      }
      tail_[bucket] = entry;
    }
    word |= bit;
    first_word_ = std::min(first_word_, bucket / 64);
  }

  // False when nothing is left.
  bool pop(Key& key, std::int32_t& fact) {
    while (first_word_ < kWords) {
      std::uint64_t& word = occupied_[first_word_];
      if (word == 0) {
        ++first_word_;
        continue;
      }
      const std::size_t bucket = first_word_ * 64 + static_cast<std::size_t>(std::countr_zero(word));
      const Entry& entry = entries_[static_cast<std::size_t>(head_[bucket])];
      key = static_cast<Key>(bucket);
      fact = entry.fact;
      head_[bucket] = entry.next;
      if (entry.next < 0) word &= word - 1;
      return true;
    }
    return pop_large(key, fact);
  }

  void clear() {
    for (std::size_t w = 0; w < kWords; ++w) {
      for (; occupied_[w] != 0; occupied_[w] &= occupied_[w] - 1) {
        head_[w * 64 + static_cast<std::size_t>(std::countr_zero(occupied_[w]))] = -1;
      }
    }
    recycle();
    large_.clear();
    sequence_ = 0;
  }

  // What a drained queue needs instead of clear().
  void recycle() {
    entries_.clear();
    first_word_ = kWords;
  }

 private:
  static constexpr std::int32_t kBuckets = 4096;
  static constexpr std::size_t kWords = kBuckets / 64;

  struct Entry {
    std::int32_t fact;
    std::int32_t next;
  };
  struct LargeEntry {
    Key key;
    std::int64_t sequence;
    std::int32_t fact;
    bool operator<(const LargeEntry& other) const {  // the largest of the heap is in front and leaves next
      return key != other.key ? key > other.key : sequence > other.sequence;
    }
  };

  void push_large(Key key, std::int32_t fact) {
    ++sequence_;
    large_.push_back({key, kOrder == QueueOrder::kFifo ? sequence_ : -sequence_, fact});
    std::push_heap(large_.begin(), large_.end());
  }

  bool pop_large(Key& key, std::int32_t& fact) {
    if (large_.empty()) return false;
    std::pop_heap(large_.begin(), large_.end());
    key = large_.back().key;
    fact = large_.back().fact;
    large_.pop_back();
    return true;
  }

  std::array<std::int32_t, kBuckets> head_;
  std::array<std::int32_t, kOrder == QueueOrder::kFifo ? kBuckets : 1> tail_{};
  std::array<std::uint64_t, kWords> occupied_{};
  std::size_t first_word_ = kWords;
  std::vector<Entry> entries_;
  std::vector<LargeEntry> large_;
  std::int64_t sequence_ = 0;
};

}  // namespace plumbline
