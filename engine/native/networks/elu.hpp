// The activation function of a network, the same to the last bit on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace plumbline {

// Four hidden units: every machine has vectors of this width.
using Lanes [[gnu::vector_size(4 * sizeof(float))]] = float;
using LaneBits [[gnu::vector_size(4 * sizeof(std::uint32_t))]] = std::uint32_t;
inline constexpr std::int32_t kLanes = 4;

// exp(x) - 1 for x <= 0 to the last place, without branches or calls: x = n ln 2 + r, and the Taylor series
// of exp(r) - 1, where |r| <= ln 2 / 2.
[[gnu::always_inline]] inline Lanes expm1_of_negative(Lanes x) {
  constexpr float kLowest = -80.0F;  // far below where exp(x) - 1 rounds to -1
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // so few bits that its product with n is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23: what is added to it is rounded into its lowest bits
  x = x < kLowest ? Lanes{} + kLowest : x;
  const Lanes rounded = x * kLog2E + kRounder;
  const Lanes n = rounded - kRounder;
  const Lanes r = (x - n * kLn2High) - n * kLn2Low;
  const Lanes power = std::bit_cast<Lanes>((std::bit_cast<LaneBits>(rounded) << 23U) + 0x3F800000U);
  Lanes series = Lanes{} + 1.0F / 5040.0F;
  series = series * r + 1.0F / 720.0F;
  series = series * r + 1.0F / 120.0F;
  series = series * r + 1.0F / 24.0F;
  series = series * r + 1.0F / 6.0F;
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  return power * (series * r) + (power - 1.0F);
}

[[gnu::always_inline]] inline Lanes elu(Lanes x) {
  const Lanes below = expm1_of_negative(x < 0.0F ? x : Lanes{});
  return x < below ? below : x;  // NaN stays NaN
}

}  // namespace plumbline
