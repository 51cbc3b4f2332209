#include "kernels/reduce.h"

#include <gtest/gtest.h>

#include "tests/kernels/reduce_cases.h"

namespace eflops::kernels {
namespace {

using test::bit_patterns;
using test::kSizes;
using test::same;
using test::wanted;

template <typename T>
class Reduce : public testing::Test {};
TYPED_TEST_SUITE(Reduce, test::EveryElement);

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

TEST(ReduceNames, OfOtherToolsAreFoundToo) {
  for (const Element element : kElements) EXPECT_EQ(find_element(element_name(element)), element);
  EXPECT_EQ(find_element("float"), Element::F32);
  EXPECT_EQ(find_element("half"), Element::F16);
  EXPECT_EQ(find_element("uint64"), Element::U64);
  EXPECT_EQ(find_element("float128"), std::nullopt);
}

}  // namespace
}  // namespace eflops::kernels
