#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace eflops::test {

/// The value of an IEEE half (binary16), from the definition of the format.
inline double half_value(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// The half nearest to `value`, ties to even (default rounding mode); a quiet NaN for NaN.
inline std::uint16_t nearest_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  if (std::isnan(value)) return 0x7E00;
  const double size = std::fabs(value);
  if (size >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00U);  // half of the last step above the largest
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), -14);
  // In units of the last place; 2048 of them make the next power of two, which the bits carry into the exponent.
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  const unsigned bits = units < 1024 ? units : ((static_cast<unsigned>(exponent + 14)) << 10) + units;
  return static_cast<std::uint16_t>(sign | bits);
}

}  // namespace eflops::test
