#include "kernels/gelu.h"

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::to_double;
using test::Values;

// Float evaluation of about 25 operations with relative error 6e-8 each; measured below 3e-7.
constexpr double kTolerance = 1e-6;
constexpr Gelu kBoth[] = {Gelu::Erf, Gelu::Tanh};

/// -20 ... 20 in steps of 1/512, and what is far, tiny or special but finite.
template <typename T>
std::vector<T> arguments() {
  std::vector<T> x;
  for (int i = -10240; i <= 10240; ++i) x.push_back(test::stored(static_cast<float>(i) / 512.0F, T{}));
  for (const float v : {0.0F, -0.0F, 1e-40F, -1e-40F, 1e-20F, 100.0F, -100.0F, 1e30F, -1e30F, 3e38F, -3e38F}) {
    x.push_back(test::stored(v, T{}));
  }
  return x;
}

template <typename T>
struct GeluTest : testing::Test {};
TYPED_TEST_SUITE(GeluTest, test::StorageTypes);

TYPED_TEST(GeluTest, ForwardAgreesWithTheReferenceEverywhere) {
  using T = TypeParam;
  const auto x = arguments<T>();
  test::on_every_target([&] {
    for (const Gelu kind : kBoth) {
      std::vector<T> y(x.size());
      gelu_forward(x.data(), y.data(), static_cast<std::int64_t>(x.size()), kind);
      test::expect_close(y, reference::gelu(to_double(x), kind), kTolerance);
    }
  });
}

TYPED_TEST(GeluTest, BackwardAgreesWithTheReferenceEverywhere) {
  using T = TypeParam;
  const auto x = arguments<T>();
  const auto d_y = test::random_values<T>(static_cast<std::int64_t>(x.size()), 1);
  test::on_every_target([&] {
    for (const Gelu kind : kBoth) {
      std::vector<T> d_x(x.size());
      gelu_backward(x.data(), d_y.data(), d_x.data(), static_cast<std::int64_t>(x.size()), kind);
      // |d_y| reaches 4, and the error of the slope is multiplied by it.
      test::expect_close(d_x, reference::gelu_backward(to_double(x), to_double(d_y), kind), 4 * kTolerance);
    }
  });
}

TEST(Gelu, ErfFormKeepsRelativeAccuracyInTheNegativeTail) {
  std::vector<float> x;
  for (int i = 1; i <= 1200; ++i) x.push_back(-static_cast<float>(i) / 100.0F);
  test::on_every_target([&] {
    std::vector<float> y(x.size());
    gelu_forward(x.data(), y.data(), 1200, Gelu::Erf);
    for (std::size_t i = 0; i < x.size(); ++i) {
      // x^2/2 is rounded by 2^-24 of up to 72 before the exponential: 72 * 6e-8 = 4.3e-6 relative.
      const double expected = reference::gelu(static_cast<double>(x[i]), Gelu::Erf);
      ASSERT_NEAR(y[i] / expected, 1.0, 6e-6) << x[i];
    }
  });
}

TYPED_TEST(GeluTest, NaNAndInfinityPassThrough) {
  using T = TypeParam;
  const std::vector<T> x = {test::stored(test::kNaN, T{}), test::stored(test::kInfinity, T{})};
  test::on_every_target([&] {
    for (const Gelu kind : kBoth) {
      std::vector<T> y(2), d_x(2);
      gelu_forward(x.data(), y.data(), 2, kind);
      gelu_backward(x.data(), x.data(), d_x.data(), 1, kind);
      EXPECT_TRUE(std::isnan(to_float(y[0])));
      EXPECT_EQ(to_float(y[1]), test::kInfinity);
      EXPECT_TRUE(std::isnan(to_float(d_x[0])));
    }
  });
}

TYPED_TEST(GeluTest, AnElementHasTheSameBitsAnywhere) {
  using T = TypeParam;
  const auto x = test::random_values<T>(64, 2, 2.0);
  for (const Gelu kind : kBoth) {
    test::expect_same_bits_anywhere(x, [&](const T* in, T* out, std::int64_t n) { gelu_forward(in, out, n, kind); });
    test::expect_same_bits_anywhere(x,
                                    [&](const T* in, T* out, std::int64_t n) { gelu_backward(in, in, out, n, kind); });
  }
}

TYPED_TEST(GeluTest, FusedBiasAgreesWithTheReference) {
  using T = TypeParam;
  for (const std::int64_t columns : test::kSizes) {
    const MatrixShape shape{.rows = 35, .columns = columns};
    const auto x = test::random_values<T>(35 * columns, 3);
    const auto d_y = test::random_values<T>(35 * columns, 4);
    const auto bias = test::random_values<float>(columns, 5);
    test::on_every_target([&] {
      for (const Gelu kind : kBoth) {
        std::vector<T> y(x.size()), d_x(x.size());
        std::vector<float> d_bias(bias.size(), 1.0F);
        bias_gelu_forward(x.data(), bias.data(), y.data(), shape, kind);
        bias_gelu_backward(
            BiasGeluBackward<T>{
                .x = x.data(), .bias = bias.data(), .d_y = d_y.data(), .d_x = d_x.data(), .d_bias = d_bias.data()},
            shape, kind);
        const Values biased = columns == 0 ? Values{} : reference::add_bias(to_double(x), to_double(bias));
        const Values expected = reference::gelu_backward(biased, to_double(d_y), kind);
        test::expect_close(y, reference::gelu(biased, kind), kTolerance);
        test::expect_close(d_x, expected, 4 * kTolerance);
        if (columns == 0) continue;
        Values sums = reference::column_sums(expected, static_cast<std::size_t>(columns));
        for (double& sum : sums) sum += 1.0;
        test::expect_close(d_bias, sums, 2e-5);  // 35 terms up to 4, each 4e-6 off at most
      }
    });
  }
}

TEST(Gelu, FusedFormsHaveTheBitsOfTheSeparateOnes) {
  const MatrixShape shape{.rows = 70, .columns = 13};
  const auto x = test::random_values<float>(70 * 13, 6);
  const auto bias = test::random_values<float>(13, 7);
  test::on_every_target([&] {
    auto biased = x;
    for (std::size_t i = 0; i < biased.size(); ++i) biased[i] += bias[i % 13];
    std::vector<float> fused(x.size()), separate(x.size()), d_fused(x.size()), d_separate(x.size());
    bias_gelu_forward(x.data(), bias.data(), fused.data(), shape, Gelu::Erf);
    gelu_forward(biased.data(), separate.data(), 70 * 13, Gelu::Erf);
    EXPECT_TRUE(test::same_bits(fused, separate));
    bias_gelu_backward<float>({.x = biased.data(), .d_y = x.data(), .d_x = d_fused.data()}, shape, Gelu::Erf);
    gelu_backward(biased.data(), x.data(), d_separate.data(), 70 * 13, Gelu::Erf);
    EXPECT_TRUE(test::same_bits(d_fused, d_separate));
  });
}

TYPED_TEST(GeluTest, BackwardWorksInPlaceAndWithAnyThreads) {
  using T = TypeParam;
  const MatrixShape shape{.rows = 300, .columns = 129};
  const auto x = test::random_values<T>(300 * 129, 8);
  test::expect_same_bits_for_any_threads([&] {
    auto d = test::random_values<T>(300 * 129, 9);
    std::vector<float> d_bias(129);
    bias_gelu_backward<T>({.x = x.data(), .d_y = d.data(), .d_x = d.data(), .d_bias = d_bias.data()}, shape, Gelu::Erf);
    for (const T value : d) d_bias.push_back(to_float(value));
    return d_bias;
  });
}

}  // namespace
}  // namespace eflops::kernels
