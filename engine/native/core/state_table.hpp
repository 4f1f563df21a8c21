// Interns packed states: ids 0, 1, 2, ... in the order of insertion. Open addressing over 32-bit slots; a
// slot holds an id and, in the bits the id leaves free, a piece of the hash, so that a probe seldom looks at
// a state that differs. State and payload (what a search knows of the state) lie in one record: one cache
// miss for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "core/memory.hpp"
#include "core/state_packing.hpp"

namespace plumbline {

using StateId = std::uint32_t;

inline constexpr StateId kNoState = 0xFFFFFFFFu;

struct NoPayload {};

// `kWords` > 0 fixes the number of words at compile time, 0 leaves it to the task.
template <int kWords>
class Width {
 public:
  explicit Width(std::int32_t n_words) : n_words_(n_words) {}
  std::size_t words() const {
    if constexpr (kWords > 0) {
      return static_cast<std::size_t>(kWords);
    } else {
      return static_cast<std::size_t>(n_words_);
    }
  }

 private:
  std::int32_t n_words_;
};

// A multiplication whose high half is folded into the low one: every input bit reaches every output bit.
inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// `words` may be unaligned: a record's payload can make its length an odd number of half words.
inline std::uint64_t hash_words(const void* words, std::size_t n) {
  std::uint64_t hash = 0x2545F4914F6CDD1DULL;
  for (std::size_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, static_cast<const std::byte*>(words) + i * sizeof(Word), sizeof(Word));
    hash = fold_multiply(hash ^ word, 0x9E3779B97F4A7C15ULL);
  }
  return hash;
}

template <int kWords, class Payload = NoPayload>
class StateTable {
  static_assert(std::is_trivially_copyable_v<Payload>);

 public:
  struct Inserted {
    StateId id;
    bool is_new;
  };

  StateTable(std::int32_t n_words, MemoryAccount& account)
      : width_(n_words), account_(&account), records_(account), slots_(account) {
    slots_.resize(std::size_t{1} << slot_bits_);
  }

  StateId size() const { return size_; }
  std::size_t n_words() const { return width_.words(); }
  std::uint64_t hash(const Word* words) const { return hash_words(words, width_.words()); }

  void load(StateId id, Word* words) const { std::memcpy(words, record(id), width_.words() * sizeof(Word)); }

  Payload& payload(StateId id) {
    return *reinterpret_cast<Payload*>(records_.data() + id * stride() + width_.words() * sizeof(Word));
  }
  const Payload& payload(StateId id) const {
    return *reinterpret_cast<const Payload*>(record(id) + width_.words() * sizeof(Word));
  }

  StateId find(const Word* words, std::uint64_t hash) const {
    const std::uint32_t slot = slots_[find_slot(words, hash)];
    return slot == 0 ? kNoState : id_of(slot);
  }

  // A new state's payload is value-initialized.
  Inserted insert(const Word* words, std::uint64_t hash) {
    std::size_t position = find_slot(words, hash);
    if (slots_[position] != 0) return {id_of(slots_[position]), false};
    if (size_ >= max_load()) {
      widen();
      position = find_slot(words, hash);
    }
    const StateId id = size_;
    if ((std::size_t{id} + 1) * stride() > records_.capacity())
      records_.grow((std::size_t{id} + 1) * stride());
    std::memcpy(records_.data() + id * stride(), words, width_.words() * sizeof(Word));
    if constexpr (!std::is_empty_v<Payload>) payload(id) = Payload{};
    slots_[position] = make_slot(id, hash);
    ++size_;
    return {id, true};
  }

  void prefetch(StateId id) const { __builtin_prefetch(record(id)); }
  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(slots_.data() + home(hash)); }

  // After `prefetch_slot` has done its work: fetches the record a probe will most likely compare.
  void prefetch_record(std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t piece = piece_of(hash);
    for (std::size_t position = home(hash); slots_[position] != 0; position = (position + 1) & mask) {
      if (slots_[position] >> slot_bits_ == piece) {
        __builtin_prefetch(record(id_of(slots_[position])));
        return;
      }
    }
  }

 private:
  static constexpr std::size_t payload_bytes() { return std::is_empty_v<Payload> ? 0 : sizeof(Payload); }
  std::size_t stride() const { return width_.words() * sizeof(Word) + payload_bytes(); }
  const std::byte* record(StateId id) const { return records_.data() + id * stride(); }

  std::size_t home(std::uint64_t hash) const { return hash & (slots_.size() - 1); }
  std::uint32_t piece_of(std::uint64_t hash) const {
    return static_cast<std::uint32_t>(hash >> (32 + slot_bits_));
  }
  std::uint32_t make_slot(StateId id, std::uint64_t hash) const {
    return (piece_of(hash) << slot_bits_) | (id + 1);
  }
  StateId id_of(std::uint32_t slot) const { return (slot & ((std::uint32_t{1} << slot_bits_) - 1)) - 1; }
  std::size_t max_load() const { return slots_.size() / 4 * 3 - 1; }

  // The slot of the state, or the empty one where it belongs.
  std::size_t find_slot(const Word* words, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t piece = piece_of(hash);
    std::size_t position = home(hash);
    while (true) {
      const std::uint32_t slot = slots_[position];
      if (slot == 0) return position;
      if (slot >> slot_bits_ == piece && holds(id_of(slot), words)) return position;
      position = (position + 1) & mask;
    }
  }

  bool holds(StateId id, const Word* words) const {
    if constexpr (kWords > 0) {
      Word stored[kWords];
      std::memcpy(stored, record(id), sizeof(stored));
      Word difference = 0;
      for (int i = 0; i < kWords; ++i) difference |= stored[i] ^ words[i];
      return difference == 0;
    } else {
      return std::memcmp(record(id), words, width_.words() * sizeof(Word)) == 0;
    }
  }

  void widen() {
    if (slot_bits_ == 31) throw std::bad_alloc{};
    Array<std::uint32_t> wider(*account_);
    wider.resize(slots_.size() * 2);
    slots_.swap(wider);
    ++slot_bits_;
    constexpr StateId kAhead = 16;
    std::uint64_t hashes[kAhead];
    for (StateId first = 0; first < size_; first += kAhead) {
      const StateId last = size_ - first < kAhead ? size_ : first + kAhead;
      for (StateId id = first; id < last; ++id) {
        hashes[id - first] = hash_words(record(id), width_.words());
        __builtin_prefetch(slots_.data() + home(hashes[id - first]), 1);
      }
      for (StateId id = first; id < last; ++id) place(id, hashes[id - first]);
    }
  }

  void place(StateId id, std::uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t position = home(hash);
    while (slots_[position] != 0) position = (position + 1) & mask;
    slots_[position] = make_slot(id, hash);
  }

  Width<kWords> width_;
  MemoryAccount* account_;
  Block records_;
  Array<std::uint32_t> slots_;
  int slot_bits_ = 8;
  StateId size_ = 0;
};

}  // namespace plumbline
