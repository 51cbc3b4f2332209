#include "kernels/elementwise.h"

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::kSizes;
using test::stored;

template <typename T>
struct Elementwise : testing::Test {};
TYPED_TEST_SUITE(Elementwise, test::StorageTypes);

// All expected values are small integers or halves: exact in both types.
TYPED_TEST(Elementwise, AddsScalesFillsAndCopiesExactlyTheElementsAsked) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t n : kSizes) {
      const auto size = static_cast<std::size_t>(n) + 1;  // one more, which must stay
      std::vector<T> a(size), b(size), sum(size, stored(-9.0F, T{})), copied(size, stored(-9.0F, T{}));
      for (std::size_t i = 0; i < size; ++i) {
        a[i] = stored(static_cast<float>(i % 50), T{});
        b[i] = stored(0.5F, T{});
      }
      add(a.data(), b.data(), sum.data(), n);
      copy(a.data(), copied.data(), n);
      add_into(b.data(), a.data(), n);
      scale(a.data(), 2.0F, n);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const auto k = static_cast<float>(i % 50);
        ASSERT_EQ(to_float(sum[i]), k + 0.5F);
        ASSERT_EQ(to_float(b[i]), k + 0.5F);
        ASSERT_EQ(to_float(copied[i]), k);
        ASSERT_EQ(to_float(a[i]), 2.0F * k);
      }
      fill(sum.data(), 3.0F, n);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) ASSERT_EQ(to_float(sum[i]), 3.0F);
      ASSERT_EQ(to_float(sum.back()), -9.0F);
      ASSERT_EQ(to_float(copied.back()), -9.0F);
      ASSERT_EQ(to_float(b.back()), 0.5F);
      ASSERT_EQ(to_float(a.back()), static_cast<float>(n % 50));
    }
  });
}

TYPED_TEST(Elementwise, RoundsOnceAndAlikeAtEveryPlace) {
  using T = TypeParam;
  const auto x = test::random_values<T>(64, 1);
  test::expect_same_bits_anywhere(x, [](const T* in, T* out, std::int64_t n) { add(in, in, out, n); });
  const auto y = test::random_values<T>(64, 2);
  std::vector<T> sum(64);
  add(x.data(), y.data(), sum.data(), 64);
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(sum[i], stored(to_float(x[i]) + to_float(y[i]), T{}));
}

TYPED_TEST(Elementwise, HandlesMoreElementsThanOneTaskWithAnyThreads) {
  using T = TypeParam;
  const auto x = test::random_values<T>(40000, 3);
  test::expect_same_bits_for_any_threads([&] {
    auto y = x;
    add_into(y.data(), x.data(), 40000);
    scale(y.data(), 0.3F, 40000);
    return y;
  });
}

TYPED_TEST(Elementwise, NaNInfinityAndDenormalsPass) {
  using T = TypeParam;
  const std::vector<T> x = {stored(test::kNaN, T{}), stored(test::kInfinity, T{}), stored(-test::kInfinity, T{}),
                            stored(0x1p-130F, T{})};
  test::on_every_target([&] {
    std::vector<T> y(4);
    add(x.data(), x.data(), y.data(), 4);
    EXPECT_TRUE(std::isnan(to_float(y[0])));
    EXPECT_EQ(to_float(y[1]), test::kInfinity);
    EXPECT_EQ(to_float(y[2]), -test::kInfinity);
    EXPECT_EQ(to_float(y[3]), 0x1p-129F);
  });
}

TEST(ElementwiseMixed, FloatSumsOfBf16AreNotRounded) {
  const std::vector<bf16> in(9, eflops::to_bf16(1.0F));
  test::on_every_target([&] {
    std::vector<float> out(9, 0x1p-20F);
    add_into(out.data(), in.data(), 9);
    for (const float value : out) EXPECT_EQ(value, 1.0F + 0x1p-20F);
  });
}

}  // namespace
}  // namespace eflops::kernels
