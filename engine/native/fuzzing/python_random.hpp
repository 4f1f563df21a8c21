// The random numbers of Python's `random.Random`: a seed gives the same pool wherever its walks are made.
// The generator is MT19937 (Matsumoto and Nishimura 1998); how its words become numbers is Python's.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plumbline {

class PythonRandom {
 public:
  static constexpr std::size_t kWords = 624;

  // As in `Random.getstate`: the words, and how many of them are used up.
  PythonRandom(const std::int64_t* words, std::size_t used) : used_(std::min(used, kWords)) {
    for (std::size_t i = 0; i < kWords; ++i) words_[i] = static_cast<std::uint32_t>(words[i]);
  }

  // `randrange(n)`, for n > 0.
  std::size_t below(std::size_t n) {
    const auto bits = static_cast<int>(std::bit_width(n));
    while (true) {
      const std::size_t number = next() >> (32 - bits);
      if (number < n) return number;
    }
  }

  // `random()`.
  double real() {
    const std::uint32_t high = next() >> 5;
    const std::uint32_t low = next() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

  template <class Item>
  void shuffle(std::vector<Item>& items) {
    for (std::size_t i = items.size(); i-- > 1;) std::swap(items[i], items[below(i + 1)]);
  }

 private:
  std::uint32_t next() {
    if (used_ == kWords) renew();
    std::uint32_t word = words_[used_++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9D2C5680u;
    word ^= (word << 15) & 0xEFC60000u;
    return word ^ (word >> 18);
  }

  void renew() {
    for (std::size_t i = 0; i < kWords; ++i) {
      const std::uint32_t joined = (words_[i] & 0x80000000u) | (words_[(i + 1) % kWords] & 0x7FFFFFFFu);
      const std::uint32_t twist = (joined & 1u) != 0 ? 0x9908B0DFu : 0u;
      words_[i] = words_[(i + 397) % kWords] ^ (joined >> 1) ^ twist;
    }
    used_ = 0;
  }

  std::array<std::uint32_t, kWords> words_;
  std::size_t used_;
};

}  // namespace plumbline
