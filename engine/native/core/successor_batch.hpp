// The successors of several states, built and hashed before any of them is looked up: by the time a table is
// probed its cache lines are on their way. This is what makes blind search fast.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compiled_task.hpp"
#include "core/packed_operators.hpp"
#include "core/state_table.hpp"

namespace plumbline {

template <int kWords>
class SuccessorBatch {
 public:
  // Enough to hide the latency of memory, few enough to stay in the first-level cache.
  static constexpr std::size_t kEnough = 96;

  explicit SuccessorBatch(const CompiledTask& compiled)
      : generator_(compiled.generator),
        operators_(compiled.task, compiled.packing, compiled.axioms ? &*compiled.axioms : nullptr,
                   compiled.generator.order()),
        width_(compiled.packing.n_words()),
        source_(width_.words()) {}

  std::size_t size() const { return entries_.size(); }
  bool is_full() const { return entries_.size() >= kEnough; }
  void clear() {
    entries_.clear();
    words_.clear();
  }

  const Word* words(std::size_t i) const { return words_.data() + i * width_.words(); }
  std::uint64_t hash(std::size_t i) const { return entries_[i].hash; }
  StateId parent(std::size_t i) const { return entries_[i].parent; }
  std::size_t position(std::size_t i) const { return entries_[i].position; }

  // Decided before the loop: in it even a call that is never made would cost plain tasks registers.
  template <class Table>
  void add_successors_of(StateId id, const Table& table) {
    operators_.is_plain() ? add<true>(id, table) : add<false>(id, table);
  }

  template <class Table>
  void prefetch_records(const Table& table) const {
    for (const Entry& entry : entries_) table.prefetch_record(entry.hash);
  }

 private:
  struct Entry {
    std::uint64_t hash;
    StateId parent;
    std::uint32_t position;
  };

  template <bool kPlain, class Table>
  void add(StateId id, const Table& table) {
    table.load(id, source_.data());
    generator_.for_each_block(source_.data(), [&](std::size_t first, std::uint64_t bits) {
      std::size_t i = entries_.size();
      const auto n = static_cast<std::size_t>(std::popcount(bits));
      entries_.resize(i + n);
      words_.resize((i + n) * width_.words());
      for (; bits != 0; bits &= bits - 1, ++i) {
        const std::size_t position = first + static_cast<std::size_t>(std::countr_zero(bits));
        Word* successor = words_.data() + i * width_.words();
        if constexpr (kPlain) {
          operators_.apply_plain(position, source_.data(), successor);
        } else {
          operators_.apply(position, source_.data(), successor);
        }
        const std::uint64_t hash = table.hash(successor);
        entries_[i] = {hash, id, static_cast<std::uint32_t>(position)};
        table.prefetch_slot(hash);
      }
    });
  }

  const SuccessorGenerator& generator_;
  PackedOperators<kWords> operators_;
  Width<kWords> width_;
  std::vector<Word> source_;
  std::vector<Word> words_;
  std::vector<Entry> entries_;
};

}  // namespace plumbline
