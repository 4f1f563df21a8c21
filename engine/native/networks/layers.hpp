// What an action schema network does between its matrix products: ELU, and pooling by maximum. torch would
// make five passes over memory for the one, and for the other copy its pools into the order a matrix product
// reads.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "interface/abi.hpp"

namespace plumbline {

// exp(x) - 1 for x <= 0 to the last place, without branches or calls, so that compilers turn a loop over it
// into vectors: x = n ln 2 + r, and the Taylor series of exp(r) - 1, where |r| <= ln 2 / 2.
inline float expm1_of_negative(float x) {
  constexpr float kLowest = -80.0F;  // far below where exp(x) - 1 rounds to -1
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // so few bits that its product with n is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23: what is added to it is rounded into its lowest bits
  x = x < kLowest ? kLowest : x;
  const float rounded = x * kLog2E + kRounder;
  const float n = rounded - kRounder;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(rounded) << 23U) + 0x3F800000U);
  float series = 1.0F / 5040.0F;
  series = series * r + 1.0F / 720.0F;
  series = series * r + 1.0F / 120.0F;
  series = series * r + 1.0F / 24.0F;
  series = series * r + 1.0F / 6.0F;
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  return power * (series * r) + (power - 1.0F);
}

inline double expm1_of_negative(double x) { return std::expm1(x); }

template <class Real>
[[gnu::always_inline]] inline Real elu(Real x) {
  const Real below = expm1_of_negative(x < Real{0} ? x : Real{0});
  return x < below ? below : x;  // NaN stays NaN
}

// ELU of each row plus the bias, `kStep` numbers at a time, which must divide the width.
template <std::int64_t kStep, class Real>
[[gnu::always_inline]] inline void elu_rows(std::int64_t n_rows, std::int64_t width, const Real* bias,
                                            Real* __restrict rows) {
  for (std::int64_t row = 0; row < n_rows; ++row) {
    for (std::int64_t first = 0; first < width; first += kStep, rows += kStep) {
      for (std::int64_t i = 0; i < kStep; ++i) rows[i] = elu(rows[i] + bias[first + i]);
    }
  }
}

// Operators have one row with their hidden vectors in all states. In the result the pools of a fact in one
// state lie side by side, as the matrix product reads them. A hidden vector is `pieces` of type Piece.
template <class Piece, class Real>
[[gnu::always_inline]] inline void pool(const PoolIndex& index, std::int64_t n_states, std::int64_t pieces,
                                        Real empty, const Real* operators, Real* pools) {
  constexpr std::int64_t kWidth = sizeof(Piece) / sizeof(Real);
  const std::int64_t row_size = n_states * pieces * kWidth;
  const std::int64_t* begin = index.begin;
  for (std::int64_t block = 0; block < index.n_blocks; ++block) {
    const std::int64_t slots = index.slots[block];
    for (std::int64_t fact = 0; fact < index.facts[block]; ++fact, begin += slots) {
      for (std::int64_t state = 0; state < n_states; ++state) {
        for (std::int64_t slot = 0; slot < slots; ++slot) {
          const std::int64_t* last = index.members + begin[slot + 1];
          for (std::int64_t piece = 0; piece < pieces; ++piece, pools += kWidth) {
            const Real* column = operators + (state * pieces + piece) * kWidth;
            const std::int64_t* member = index.members + begin[slot];
            Piece largest = Piece{} + empty;
            if (member != last) std::memcpy(&largest, column + *member++ * row_size, sizeof(Piece));
            for (; member != last; ++member) {
              Piece other;
              std::memcpy(&other, column + *member * row_size, sizeof(Piece));
              largest = other > largest ? other : largest;
            }
            std::memcpy(pools, &largest, sizeof(Piece));
          }
        }
      }
    }
  }
}

}  // namespace plumbline
