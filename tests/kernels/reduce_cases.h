#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/float16.h"
#include "kernels/reduce.h"
#include "tests/kernels/kernel_cases.h"
#include "tests/support/half_reference.h"

namespace eflops::kernels::test {

template <typename T, Element kElement>
struct Case {
  using Type = T;
  static constexpr Element element = kElement;
};

/// One element reduced by plain C++: the definition.
template <typename T>
T wanted(Reduction reduction, T a, T b) {
  if constexpr (std::is_same_v<T, f16>) {
    const double x = eflops::test::half_value(a.bits);
    const double y = eflops::test::half_value(b.bits);
    // A float holds the sum and the product of two halves exactly: one rounding to a half is left.
    const auto in_float = wanted<float>(reduction, static_cast<float>(x), static_cast<float>(y));
    return {eflops::test::nearest_half(static_cast<double>(in_float))};
  } else if constexpr (std::is_same_v<T, bf16>) {
    return to_bf16(wanted<float>(reduction, to_float(a), to_float(b)));
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (reduction) {
      case Reduction::Product:
        return static_cast<T>(static_cast<U>(static_cast<U>(a) * static_cast<U>(b)));
      case Reduction::Min:
        return std::min(a, b);
      case Reduction::Max:
        return std::max(a, b);
      default:
        return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    }
  } else {
    const bool minimum = reduction == Reduction::Min;
    switch (reduction) {
      case Reduction::Product:
        return a * b;
      case Reduction::Min:
      case Reduction::Max:
        if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
        if (a == b) return std::signbit(a) == minimum ? a : b;  // of two zeros min takes -0, max +0
        return minimum ? std::min(a, b) : std::max(a, b);
      default:
        return a + b;
    }
  }
}

template <typename T>
bool is_nan(T x) {
  if constexpr (std::is_same_v<T, f16>)
    return std::isnan(eflops::test::half_value(x.bits));
  else if constexpr (std::is_same_v<T, bf16>)
    return std::isnan(to_float(x));
  else if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

/// The same bits, or NaN of whatever sign and payload.
template <typename T>
bool same(T a, T b) {
  return (is_nan(a) && is_nan(b)) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Random bit patterns with zeros of both signs, infinities and NaN (floats) or the limits (integers) strewn in.
template <typename T>
std::vector<T> bit_patterns(std::int64_t n, std::uint64_t seed) {
  Random random(seed, Purpose::Test);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) {
    const std::uint64_t bits = random.next_u64();
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    const std::uint64_t special = random.below(40);
    const auto set = [&](double x) {
      if constexpr (std::is_same_v<T, f16>)
        value = {eflops::test::nearest_half(x)};
      else if constexpr (std::is_same_v<T, bf16>)
        value = to_bf16(static_cast<float>(x));
      else if constexpr (std::is_floating_point_v<T>)
        value = static_cast<T>(x);
      else
        value = x > 0 ? std::numeric_limits<T>::max() : x < 0 ? std::numeric_limits<T>::min() : T{0};
    };
    constexpr std::array<double, 6> kSpecial = {
        0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN(), 1.0};
    if (special < kSpecial.size()) set(kSpecial[special]);
  }
  return values;
}

using EveryElement =
    testing::Types<Case<float, Element::F32>, Case<double, Element::F64>, Case<bf16, Element::BF16>,
                   Case<f16, Element::F16>, Case<std::int8_t, Element::I8>, Case<std::uint8_t, Element::U8>,
                   Case<std::int32_t, Element::I32>, Case<std::uint32_t, Element::U32>,
                   Case<std::int64_t, Element::I64>, Case<std::uint64_t, Element::U64>>;

}  // namespace eflops::kernels::test
