// D of one state with many others, in blocks. Where factors have at most 16 states and their values fit into
// bytes, one instruction looks up the values of 32 states in a factor; elsewhere, and on processors without
// that instruction, each pair is looked up by itself. Sums are exact either way. Factors in which all values
// are zero, such as those of variables that nothing depends on, are left out.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "dominance/tables.hpp"

namespace plumbline {

class PairValues {
 public:
  static constexpr std::size_t kBlock = 32;
  using Block = std::array<std::int64_t, kBlock>;  // DominanceTables::kNothing where nothing is known

  // The tables must outlive this object.
  explicit PairValues(const DominanceTables& tables) : tables_(tables) {
    find_most();
    for (std::size_t i = 0; i < tables.n_factors(); ++i) {
      if (!is_zero(i)) factors_.push_back(i);
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && fits_bytes()) groups_ = make_groups();
#endif
  }

  std::size_t size() const { return n_states_; }

  // One more state, given by its factor states.
  void add(const std::int32_t* ids) {
    ids_.insert(ids_.end(), ids, ids + tables_.n_factors());
    const std::size_t n = factors_.size();
    if (n_states_ % kBlock == 0) bytes_.resize(bytes_.size() + n * kBlock);
    for (std::size_t i = 0; i < n; ++i) {
      std::uint8_t& byte = bytes_[(n_states_ / kBlock * n + i) * kBlock + n_states_ % kBlock];
      byte = static_cast<std::uint8_t>(std::max(ids[factors_[i]], 0));
    }
    is_pruned_.push_back(is_pruned(ids));
    ++n_states_;
  }

  const std::int32_t* ids(std::size_t number) const { return ids_.data() + number * tables_.n_factors(); }

  // Asks about D(s, t) of this s (or t) and those that were added.
  void fix_source(const std::int32_t* ids) { fix(ids, true); }
  void fix_target(const std::int32_t* ids) { fix(ids, false); }

  // No value of the fixed state with any other is larger; kNothing if it has none.
  std::int64_t most() const { return most_; }

  // The values with the states of a block; what comes after the last state means nothing. False if none of
  // them is larger than `above`, and then `result` means nothing either.
  bool values(std::size_t block, std::int64_t above, Block& result) const {
    const std::size_t first = block * kBlock;
    const std::size_t last = std::min(first + kBlock, n_states_);
    if (groups_.empty()) {
      std::int64_t largest = DominanceTables::kNothing;
      for (std::size_t k = first; k < last; ++k) {
        result[k - first] =
            is_source_ ? tables_.value(fixed_.data(), ids(k)) : tables_.value(ids(k), fixed_.data());
        largest = std::max(largest, result[k - first]);
      }
      return largest > above;
    }
    if (is_fixed_pruned_ || !shuffle(block, above, result)) return false;
    for (std::size_t k = first; k < last; ++k) {
      if (is_pruned_[k]) result[k - first] = DominanceTables::kNothing;
    }
    return true;
  }

 private:
  static constexpr std::int32_t kMostStates = 16;
  static constexpr std::int64_t kLargest = 127;
  static constexpr std::int8_t kNoByte = -128;
  static constexpr std::int64_t kLargestSum = 32767;
  static constexpr std::int16_t kNoSum = -32768;

  bool is_zero(std::size_t factor) const {
    const std::int32_t n = tables_.n_states(factor);
    for (std::int32_t s = 0; s < n; ++s) {
      for (std::int32_t t = 0; t < n; ++t) {
        if (tables_.factor_value(factor, s, t) != 0) return false;
      }
    }
    return true;
  }

  // Then a state has no value with any other.
  bool is_pruned(const std::int32_t* ids) const {
    return std::any_of(ids, ids + tables_.n_factors(), [](std::int32_t id) { return id < 0; });
  }

  bool fits_bytes() const {
    std::int64_t sum = 0;
    for (const std::size_t i : factors_) {
      if (tables_.n_states(i) > kMostStates || largest(i) > kLargest) return false;
      sum += largest(i);
    }
    return tables_.n_factors() > 0 && sum <= kLargestSum;
  }

  std::int64_t largest(std::size_t factor) const {
    std::int64_t most = 0;
    for (std::int32_t s = 0; s < tables_.n_states(factor); ++s) {
      for (std::int32_t t = 0; t < tables_.n_states(factor); ++t) {
        const Value value = tables_.factor_value(factor, s, t);
        if (value != kNoValue) most = std::max(most, std::abs(std::int64_t{value}));
      }
    }
    return most;
  }

  // The largest values of each factor state, as a source and as a target.
  void find_most() {
    for (std::size_t i = 0; i < tables_.n_factors(); ++i) {
      const std::int32_t n = tables_.n_states(i);
      std::vector<Most>& most = most_of_.emplace_back(static_cast<std::size_t>(n));
      for (std::int32_t s = 0; s < n; ++s) {
        for (std::int32_t t = 0; t < n; ++t) {
          const Value value = tables_.factor_value(i, s, t);
          if (value == kNoValue) continue;
          std::int64_t& source = most[static_cast<std::size_t>(s)].as_source;
          std::int64_t& target = most[static_cast<std::size_t>(t)].as_target;
          source = std::max(source, std::int64_t{value});
          target = std::max(target, std::int64_t{value});
        }
      }
    }
  }

  std::int64_t most_of_fixed() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      const Most& most = most_of_[i][static_cast<std::size_t>(fixed_[i])];
      const std::int64_t own = is_source_ ? most.as_source : most.as_target;
      if (own == DominanceTables::kNothing) return own;
      sum += own;
    }
    return sum;
  }

  // Ends of groups of factors whose values can be added up in bytes.
  std::vector<std::size_t> make_groups() {
    std::vector<std::size_t> ends;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      const std::int64_t more = largest(factors_[i]);
      if (i > 0 && sum + more > kLargest) {
        ends.push_back(i);
        sum = 0;
      }
      sum += more;
    }
    ends.push_back(factors_.size());
    rows_.resize(factors_.size() * kMostStates);
    return ends;
  }

  void fix(const std::int32_t* ids, bool is_source) {
    fixed_.assign(ids, ids + tables_.n_factors());
    is_source_ = is_source;
    is_fixed_pruned_ = is_pruned(ids);
    most_ = is_fixed_pruned_ ? DominanceTables::kNothing : most_of_fixed();
    if (groups_.empty() || is_fixed_pruned_) return;
    std::int8_t* row = rows_.data();
    for (const std::size_t i : factors_) {
      for (std::int32_t other = 0; other < tables_.n_states(i); ++other) {
        const Value value =
            is_source ? tables_.factor_value(i, ids[i], other) : tables_.factor_value(i, other, ids[i]);
        row[other] = value == kNoValue ? kNoByte : static_cast<std::int8_t>(value);
      }
      row += kMostStates;
    }
  }

#if defined(__x86_64__)
  [[gnu::target("avx2")]] bool shuffle(std::size_t block, std::int64_t above, Block& result) const {
    const std::uint8_t* ids = bytes_.data() + block * factors_.size() * kBlock;
    __m256i low = _mm256_setzero_si256();
    __m256i high = _mm256_setzero_si256();
    __m256i least = _mm256_setzero_si256();
    std::size_t i = 0;
    for (const std::size_t end : groups_) {
      __m256i sum = _mm256_setzero_si256();
      for (; i < end; ++i) {
        const auto* row = reinterpret_cast<const __m128i*>(rows_.data() + i * kMostStates);
        const auto* own = reinterpret_cast<const __m256i*>(ids + i * kBlock);
        const __m256i value =
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(row)), _mm256_loadu_si256(own));
        least = _mm256_min_epi8(least, value);
        sum = _mm256_add_epi8(sum, value);
      }
      low = _mm256_add_epi16(low, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(sum)));
      high = _mm256_add_epi16(high, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(sum, 1)));
    }
    const __m256i is_nothing = _mm256_cmpeq_epi8(least, _mm256_set1_epi8(kNoByte));
    const __m256i nothing = _mm256_set1_epi16(kNoSum);
    low = _mm256_blendv_epi8(low, nothing, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(is_nothing)));
    high = _mm256_blendv_epi8(high, nothing, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(is_nothing, 1)));
    // Sums lie between those of 16 bits, and so does the number that they are compared with.
    const auto floor = static_cast<std::int16_t>(std::clamp<std::int64_t>(above, kNoSum, kLargestSum));
    const __m256i is_larger = _mm256_cmpgt_epi16(_mm256_max_epi16(low, high), _mm256_set1_epi16(floor));
    if (_mm256_testz_si256(is_larger, is_larger) != 0) return false;
    alignas(32) std::array<std::int16_t, kBlock> sums;
    _mm256_store_si256(reinterpret_cast<__m256i*>(sums.data()), low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(sums.data() + kBlock / 2), high);
    for (std::size_t k = 0; k < kBlock; ++k) {
      result[k] = sums[k] == kNoSum ? DominanceTables::kNothing : std::int64_t{sums[k]};
    }
    return true;
  }
#else
  bool shuffle(std::size_t, std::int64_t, Block&) const { return false; }  // there are no groups
#endif

  struct Most {
    std::int64_t as_source = DominanceTables::kNothing;
    std::int64_t as_target = DominanceTables::kNothing;
  };

  const DominanceTables& tables_;
  std::vector<std::vector<Most>> most_of_;  // by factor and state
  std::int64_t most_ = DominanceTables::kNothing;
  std::vector<std::size_t> factors_;  // in which some value is not zero
  std::vector<std::size_t> groups_;   // of these; empty: pairs are looked up one by one
  std::size_t n_states_ = 0;
  std::vector<std::int32_t> ids_;    // a row of factor states per state
  std::vector<std::uint8_t> bytes_;  // per block and factor of `factors_` the states of the factor
  std::vector<bool> is_pruned_;
  std::vector<std::int32_t> fixed_;
  bool is_source_ = true;
  bool is_fixed_pruned_ = false;
  std::vector<std::int8_t> rows_;  // the values of the fixed state with each state of these factors
};

}  // namespace plumbline
