// The activation function of a network, the same to the last bit on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace plumbline {

// Hidden units that are computed together. Every machine has vectors of four.
template <std::size_t kWidth>
struct Vectors {
  using Floats [[gnu::vector_size(kWidth * sizeof(float))]] = float;
  using Bits [[gnu::vector_size(kWidth * sizeof(float))]] = std::uint32_t;
};
inline constexpr std::size_t kLanes = 4;

// exp(x) - 1 for x <= 0 to the last place, without branches or calls: x = n ln 2 + r, and the Taylor series
// of exp(r) - 1, where |r| <= ln 2 / 2.
template <std::size_t kWidth>
[[gnu::always_inline]] inline typename Vectors<kWidth>::Floats expm1_of_negative(
    typename Vectors<kWidth>::Floats x) {
  using Floats = typename Vectors<kWidth>::Floats;
  using Bits = typename Vectors<kWidth>::Bits;
  constexpr float kLowest = -80.0F;  // far below where exp(x) - 1 rounds to -1
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // so few bits that its product with n is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23: what is added to it is rounded into its lowest bits
  x = x < kLowest ? Floats{} + kLowest : x;
  const Floats rounded = x * kLog2E + kRounder;
  const Floats n = rounded - kRounder;
  const Floats r = (x - n * kLn2High) - n * kLn2Low;
  const Floats power = std::bit_cast<Floats>((std::bit_cast<Bits>(rounded) << 23U) + 0x3F800000U);
  Floats series = Floats{} + 1.0F / 5040.0F;
  series = series * r + 1.0F / 720.0F;
  series = series * r + 1.0F / 120.0F;
  series = series * r + 1.0F / 24.0F;
  series = series * r + 1.0F / 6.0F;
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  return power * (series * r) + (power - 1.0F);
}

template <std::size_t kWidth>
[[gnu::always_inline]] inline typename Vectors<kWidth>::Floats elu(typename Vectors<kWidth>::Floats x) {
  using Floats = typename Vectors<kWidth>::Floats;
  const Floats below = expm1_of_negative<kWidth>(x < 0.0F ? x : Floats{});
  return x < below ? below : x;  // NaN stays NaN
}

}  // namespace plumbline
