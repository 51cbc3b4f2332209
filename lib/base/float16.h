#pragma once

#include <bit>
#include <cstdint>

namespace eflops {

/// IEEE binary16. Storage only: arithmetic converts to float first.
struct f16 {
  std::uint16_t bits = 0;
  friend bool operator==(f16, f16) = default;
};

/// Exact, subnormals too; NaN becomes a quiet NaN.
inline float to_float(f16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  const std::uint32_t rest = value.bits & 0x7FFFU;
  if (rest > 0x7C00U) return std::bit_cast<float>(sign | 0x7FC00000U | ((rest & 0x3FFU) << 13));
  if (rest == 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U);
  // Placed in a float's fields the number is 2^112 too small; the product is exact and mends subnormals on the way.
  const float scaled = std::bit_cast<float>(rest << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

/// Round to nearest, ties to even; NaN stays a quiet NaN; beyond 65504 infinity.
inline f16 to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t size = bits & 0x7FFFFFFFU;
  if (size > 0x7F800000U) return {static_cast<std::uint16_t>(sign | 0x7E00U | ((size >> 13) & 0x1FFU))};
  if (size >= 0x477FF000U) return {static_cast<std::uint16_t>(sign | 0x7C00U)};  // from 65520 on
  if (size < 0x38800000U) {  // below 2^-14: adding 1/2 leaves the number in units of 2^-24, rounded by the addition
    const float shifted = std::bit_cast<float>(size) + 0.5F;
    return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U))};
  }
  const std::uint32_t rounded = size + 0xFFFU + ((size >> 13) & 1U);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13))};
}

}  // namespace eflops
