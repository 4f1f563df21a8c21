// The queue of Dijkstra's algorithm with small integer costs (Dial 1969, "Algorithm 360: Shortest-Path Forest
// with Topological Ordering"): no key in it exceeds the smallest by more than the most expensive step, so a
// ring of that many buckets suffices. A bucket is a stack of chunks from one pool; a bit per bucket says
// whether it is empty, so that sparse costs do not mean long walks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.hpp"
#include "core/state_table.hpp"
#include "core/task.hpp"

namespace plumbline {

class CyclicBuckets {
 public:
  static constexpr Cost kMostBuckets = 4096;

  CyclicBuckets(Cost highest_cost, MemoryAccount& account)
      : chunks_(account),
        heads_(static_cast<std::size_t>(highest_cost) / 64 * 64 + 64, kNone),
        is_filled_(heads_.size() / 64) {}

  bool empty() const { return size_ == 0; }

  // The queue must not be empty.
  Cost min_key() {
    std::size_t word = ring_ / 64;
    std::uint64_t filled = is_filled_[word] >> (ring_ % 64);
    if (filled != 0) {
      advance(static_cast<std::size_t>(std::countr_zero(filled)));
      return key_;
    }
    std::size_t skipped = 64 - ring_ % 64;
    for (word = next(word); is_filled_[word] == 0; word = next(word)) skipped += 64;
    advance(skipped + static_cast<std::size_t>(std::countr_zero(is_filled_[word])));
    return key_;
  }

  // Whether an entry with the key that `min_key` has found is left.
  bool has(Cost) const { return heads_[ring_] != kNone; }

  // `key` lies between what `min_key` has found last and that plus the most expensive step.
  void push(Cost key, StateId id) {
    std::size_t bucket = ring_ + static_cast<std::size_t>(key - key_);
    if (bucket >= heads_.size()) bucket -= heads_.size();
    std::uint32_t head = heads_[bucket];
    if (head == kNone || chunks_[head].count == kChunk) {
      is_filled_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
      const std::uint32_t fresh = take_chunk();
      chunks_[fresh].next = head;
      chunks_[fresh].count = 0;
      heads_[bucket] = head = fresh;
    }
    Chunk& chunk = chunks_[head];
    chunk.ids[chunk.count++] = id;
    ++size_;
  }

  // From the bucket of `min_key`, newest first.
  StateId pop() {
    const std::uint32_t head = heads_[ring_];
    Chunk& chunk = chunks_[head];
    const StateId id = chunk.ids[--chunk.count];
    --size_;
    if (chunk.count == 0) {
      heads_[ring_] = chunk.next;
      chunk.next = free_;
      free_ = head;
      if (heads_[ring_] == kNone) is_filled_[ring_ / 64] &= ~(std::uint64_t{1} << (ring_ % 64));
    }
    return id;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  static constexpr std::uint32_t kChunk = 62;
  struct Chunk {
    std::uint32_t next;
    std::uint32_t count;
    StateId ids[kChunk];
  };

  std::size_t next(std::size_t word) const { return word + 1 == is_filled_.size() ? 0 : word + 1; }

  void advance(std::size_t buckets) {
    key_ += static_cast<Cost>(buckets);
    ring_ += buckets;
    if (ring_ >= heads_.size()) ring_ -= heads_.size();
  }

  std::uint32_t take_chunk() {
    if (free_ != kNone) {
      const std::uint32_t chunk = free_;
      free_ = chunks_[chunk].next;
      return chunk;
    }
    chunks_.resize(chunks_.size() + 1);
    return static_cast<std::uint32_t>(chunks_.size() - 1);
  }

  Array<Chunk> chunks_;
  std::vector<std::uint32_t> heads_;
  std::vector<std::uint64_t> is_filled_;
  std::uint32_t free_ = kNone;
  std::size_t ring_ = 0;
  Cost key_ = 0;
  std::size_t size_ = 0;
};

}  // namespace plumbline
