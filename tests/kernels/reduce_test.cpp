#include "kernels/reduce.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/float16.h"
#include "tests/kernels/kernel_cases.h"
#include "tests/support/half_reference.h"

namespace eflops::kernels {
namespace {

using test::kSizes;

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

template <typename T>
class Reduce : public testing::Test {};
using Cases = testing::Types<Case<float, Element::F32>, Case<double, Element::F64>, Case<bf16, Element::BF16>,
                             Case<f16, Element::F16>, Case<std::int8_t, Element::I8>, Case<std::uint8_t, Element::U8>,
                             Case<std::int32_t, Element::I32>, Case<std::uint32_t, Element::U32>,
                             Case<std::int64_t, Element::I64>, Case<std::uint64_t, Element::U64>>;
TYPED_TEST_SUITE(Reduce, Cases);

TYPED_TEST(Reduce, EqualsPlainArithmeticAtEverySizeInAndOutOfPlace) {
  using T = typename TypeParam::Type;
  test::on_every_target([] {
    for (const Reduction reduction : kReductions) {
      for (const std::int64_t n : kSizes) {
        const std::vector<T> a = bit_patterns<T>(n + 2, 1 + static_cast<std::uint64_t>(n));
        const std::vector<T> b = bit_patterns<T>(n + 2, 1000 + static_cast<std::uint64_t>(n));
        // From the second element on, so that nothing is aligned; the first and the last must stay.
        std::vector<T> out = a;
        reduce(reduction, TypeParam::element, a.data() + 1, b.data() + 1, out.data() + 1, n);
        std::vector<T> in_place = a;
        reduce(reduction, TypeParam::element, in_place.data() + 1, b.data() + 1, in_place.data() + 1, n);
        for (std::size_t i = 0; i < out.size(); ++i) {
          const bool inside = i > 0 && i + 1 < out.size();
          const T expected = inside ? wanted(reduction, a[i], b[i]) : a[i];
          ASSERT_TRUE(same(out[i], expected)) << reduction_name(reduction) << " n=" << n << " at " << i;
          ASSERT_TRUE(same(in_place[i], expected)) << reduction_name(reduction) << " n=" << n << " at " << i;
        }
      }
    }
  });
}

// Sizes of several lines with heads and tails of every length: `out` starts at each element of a line, and a and b at
// other places than `out`.
TYPED_TEST(Reduce, PastTheCachesHasTheSameBitsAtEveryAlignment) {
  using T = typename TypeParam::Type;
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
  test::on_every_target([] {
    for (const Reduction reduction : kReductions) {
      for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, kLine - 1, kLine, 5 * kLine + 3, 300 + kLine}) {
        const std::vector<T> a = bit_patterns<T>(n + 1, 21);
        const std::vector<T> b = bit_patterns<T>(n + 2, 22);
        std::vector<T> expected(static_cast<std::size_t>(n));
        reduce(reduction, TypeParam::element, a.data() + 1, b.data() + 2, expected.data(), n);
        for (std::int64_t start = 0; start < kLine; ++start) {
          std::vector<T> out(static_cast<std::size_t>(n + start + 1));
          const std::vector<T> before = out;
          reduce_streaming(reduction, TypeParam::element, a.data() + 1, b.data() + 2, out.data() + start, n);
          ASSERT_TRUE(test::same_bits(out.data() + start, expected.data(), expected.size()))
              << reduction_name(reduction) << " n=" << n << " start " << start;
          std::copy_n(before.begin() + start, n, out.begin() + start);
          ASSERT_TRUE(test::same_bits(out, before)) << "written outside, n=" << n << " start " << start;
        }
        std::vector<T> in_place = a;
        reduce_streaming(reduction, TypeParam::element, in_place.data() + 1, b.data() + 2, in_place.data() + 1, n);
        ASSERT_TRUE(test::same_bits(in_place.data() + 1, expected.data(), expected.size())) << "in place, n=" << n;
      }
    }
  });
}

// No element begins a line of cache, so there is no way past the caches.
TEST(ReduceStreaming, TakesResultsThatAreNotAlignedToTheirElements) {
  test::on_every_target([] {
    const std::vector<double> a(100, 1.5);
    const std::vector<double> b(100, 2.25);
    std::vector<std::byte> out(100 * sizeof(double) + 1);
    reduce_streaming(Reduction::Sum, Element::F64, a.data(), b.data(), out.data() + 1, 100);
    for (std::size_t i = 0; i < 100; ++i) {
      double value = 0;
      std::memcpy(&value, out.data() + 1 + i * sizeof(double), sizeof(double));
      ASSERT_EQ(value, 3.75) << i;
    }
  });
}

TYPED_TEST(Reduce, AveragesByDividingTheSum) {
  using T = typename TypeParam::Type;
  test::on_every_target([] {
    for (const std::int64_t n : kSizes) {
      const std::vector<T> sum = bit_patterns<T>(n + 1, 5);
      for (const int ranks : {1, 3, 300}) {
        std::vector<T> x = sum;
        average_of(TypeParam::element, x.data(), n, ranks);
        ASSERT_TRUE(same(x.back(), sum.back()));
        for (std::size_t i = 0; i + 1 < x.size(); ++i) {
          T expected = sum[i];
          if constexpr (std::is_same_v<T, f16>) {
            expected = {eflops::test::nearest_half(static_cast<double>(
                static_cast<float>(eflops::test::half_value(sum[i].bits)) / static_cast<float>(ranks)))};
          } else if constexpr (std::is_same_v<T, bf16>) {
            expected = to_bf16(to_float(sum[i]) / static_cast<float>(ranks));
          } else if constexpr (std::is_floating_point_v<T>) {
            expected = sum[i] / static_cast<T>(ranks);
          } else if constexpr (std::is_signed_v<T>) {
            expected = static_cast<T>(std::int64_t{sum[i]} / ranks);  // toward zero
          } else {
            expected = static_cast<T>(std::uint64_t{sum[i]} / static_cast<std::uint64_t>(ranks));
          }
          ASSERT_TRUE(same(x[i], expected)) << n << " at " << i << " ranks " << ranks;
        }
      }
    }
  });
}

// known_faults C7: Open MPI's vectors saturate where its scalars wrap. Ours wrap everywhere.
TEST(ReduceIntegers, WrapAroundAlikeInVectorsAndTails) {
  test::on_every_target([] {
    std::vector<std::int8_t> x(71, 100);
    const std::vector<std::int8_t> y(71, 100);
    reduce(Reduction::Sum, Element::I8, x.data(), y.data(), x.data(), 71);
    for (const std::int8_t value : x) ASSERT_EQ(value, -56);  // 200 - 256
  });
}

// known_faults C8: unsigned long compared as signed.
TEST(ReduceIntegers, CompareUnsigned64AsUnsigned) {
  test::on_every_target([] {
    const std::vector<std::uint64_t> zeros(9, 0);
    const std::vector<std::uint64_t> ones(9, ~std::uint64_t{0});
    std::vector<std::uint64_t> out(9);
    reduce(Reduction::Min, Element::U64, zeros.data(), ones.data(), out.data(), 9);
    ASSERT_EQ(out, zeros);
    reduce(Reduction::Max, Element::U64, zeros.data(), ones.data(), out.data(), 9);
    ASSERT_EQ(out, ones);
  });
}

TEST(ReduceNames, AreThoseOfTheField) {
  EXPECT_EQ(element_name(Element::BF16), "bf16");
  EXPECT_EQ(element_name(Element::U64), "u64");
  EXPECT_EQ(reduction_name(Reduction::Average), "avg");
  EXPECT_EQ(bytes_of(Element::F16), 2);
  EXPECT_EQ(bytes_of(Element::I64), 8);
}

}  // namespace
}  // namespace eflops::kernels
