// A priority queue for few different keys and many entries: one bucket per key, ordered by key.
// Among equal keys either the oldest (breadth) or the newest entry (depth, and still in the cache) comes
// first.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "core/memory.hpp"

namespace plumbline {

enum class Ties { kOldestFirst, kNewestFirst };

template <class Key, class Entry, Ties kTies>
class BucketQueue {
 public:
  explicit BucketQueue(MemoryAccount& account) : account_(account) {}
  BucketQueue(const BucketQueue&) = delete;
  BucketQueue& operator=(const BucketQueue&) = delete;
  ~BucketQueue() { clear(); }

  bool empty() const { return buckets_.empty(); }
  const Key& min_key() const { return buckets_.begin()->first; }
  bool has(const Key& key) const { return !empty() && min_key() == key; }  // with a key that is the smallest

  void push(const Key& key, const Entry& entry) {
    account_.charge(sizeof(Entry));
    buckets_[key].entries.push_back(entry);
    ++size_;
  }

  Entry pop() {
    const auto first = buckets_.begin();
    Bucket& bucket = first->second;
    Entry entry;
    if constexpr (kTies == Ties::kNewestFirst) {
      entry = bucket.entries.back();
      bucket.entries.pop_back();
    } else {
      entry = bucket.entries[bucket.taken++];
    }
    account_.release(sizeof(Entry));
    --size_;
    if (bucket.taken == bucket.entries.size()) buckets_.erase(first);
    return entry;
  }

  void clear() {
    account_.release(size_ * sizeof(Entry));
    size_ = 0;
    buckets_.clear();
  }

 private:
  struct Bucket {
    std::vector<Entry> entries;
    std::size_t taken = 0;
  };
  MemoryAccount& account_;
  std::map<Key, Bucket> buckets_;
  std::size_t size_ = 0;
};

}  // namespace plumbline
