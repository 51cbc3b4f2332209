#include "kernels/tanh.h"

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

template <typename T>
struct Tanh : testing::Test {};
TYPED_TEST_SUITE(Tanh, test::StorageTypes);

TYPED_TEST(Tanh, AgreesWithTheReferenceAcrossItsRange) {
  using T = TypeParam;
  std::vector<T> x;
  for (int i = -6000; i <= 6000; ++i) x.push_back(test::stored(static_cast<float>(i) / 500.0F, T{}));
  const auto n = static_cast<std::int64_t>(x.size());
  test::on_every_target([&] {
    std::vector<T> y(x.size()), d_x(x.size());
    tanh_forward(x.data(), y.data(), n);
    test::expect_close(y, reference::tanh(test::to_double(x)), 3e-7);
    tanh_backward(y.data(), x.data(), d_x.data(), n);
    // |d_y| reaches 12
    test::expect_close(d_x, reference::tanh_backward(test::to_double(y), test::to_double(x)), 12 * 1.2e-7);
  });
}

TEST(TanhFloat, IsRelativelyAccurateNearZeroAndExactAtTheEnds) {
  test::on_every_target([&] {
    for (const float v : {1e-38F, 1e-10F, 1e-4F, 0.1F, 0.6F, 0.62499F, 0.625F, 0.63F, 1.0F, 8.0F}) {
      const std::vector<float> x = {v, -v};
      std::vector<float> y(2);
      tanh_forward(x.data(), y.data(), 2);
      ASSERT_NEAR(y[0] / std::tanh(static_cast<double>(v)), 1.0, 1e-6) << v;
      ASSERT_EQ(y[1], -y[0]);
    }
    const std::vector<float> x = {test::kInfinity, -test::kInfinity, 1e30F, -100.0F, test::kNaN, -0.0F};
    std::vector<float> y(6);
    tanh_forward(x.data(), y.data(), 6);
    EXPECT_EQ(y[0], 1.0F);
    EXPECT_EQ(y[1], -1.0F);
    EXPECT_EQ(y[2], 1.0F);
    EXPECT_EQ(y[3], -1.0F);
    EXPECT_TRUE(std::isnan(y[4]));
    EXPECT_EQ(y[5], 0.0F);
  });
}

TYPED_TEST(Tanh, AnElementHasTheSameBitsAnywhereAndForAnyThreads) {
  using T = TypeParam;
  const auto x = test::random_values<T>(40000, 1);
  test::expect_same_bits_anywhere(std::vector<T>(x.begin(), x.begin() + 64), tanh_forward<T>);
  test::expect_same_bits_for_any_threads([&] {
    auto y = x;
    tanh_forward(y.data(), y.data(), 40000);
    tanh_backward(y.data(), x.data(), y.data(), 40000);
    return y;
  });
}

}  // namespace
}  // namespace eflops::kernels
