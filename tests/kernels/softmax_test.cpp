#include "kernels/softmax.h"

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::kInfinity;
using test::to_double;
using test::Values;

template <typename T>
struct SoftmaxTest : testing::Test {};
TYPED_TEST_SUITE(SoftmaxTest, test::StorageTypes);

TYPED_TEST(SoftmaxTest, ForwardAndBackwardAgreeWithTheReference) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t columns : test::kSizes) {
      if (columns == 0) continue;
      const auto width = static_cast<std::size_t>(columns);
      const MatrixShape shape{.rows = 5, .columns = columns};
      const auto x = test::random_values<T>(5 * columns, 1, 10.0);
      const auto d_y = test::random_values<T>(5 * columns, 2);
      auto y = x;
      std::vector<float> log_sum_exp(5);
      softmax_forward(y.data(), shape, 0.125F, log_sum_exp.data());
      const auto expected = reference::softmax(to_double(x), width, 0.125);
      test::expect_close(y, expected.y, 1e-6);  // terms in (0, 1], each within 2e-7
      test::expect_close(log_sum_exp, expected.log_sum_exp, 1e-6);
      std::vector<T> d_x(y.size());
      softmax_backward(y.data(), d_y.data(), d_x.data(), shape, 0.125F);
      test::expect_close(d_x, reference::softmax_backward(to_double(y), to_double(d_y), width, 0.125), 1e-6);
    }
  });
}

TYPED_TEST(SoftmaxTest, RowsWithoutAnyVisibleElementBecomeZeroAndHaveZeroGradient) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t columns : {1, 8, 13}) {
      const auto n = static_cast<std::size_t>(columns);
      const MatrixShape shape{.rows = 1, .columns = columns};
      std::vector<T> x(n, test::stored(-kInfinity, T{}));
      float log_sum_exp = 0.0F;
      softmax_forward(x.data(), shape, 2.0F, &log_sum_exp);
      const auto d_y = test::random_values<T>(columns, 3);
      std::vector<T> d_x(n, test::stored(1.0F, T{}));
      softmax_backward(x.data(), d_y.data(), d_x.data(), shape, 2.0F);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(to_float(x[i]), 0.0F);
        ASSERT_EQ(to_float(d_x[i]), 0.0F);
      }
      ASSERT_EQ(log_sum_exp, -kInfinity);
    }
  });
}

TYPED_TEST(SoftmaxTest, MaskedElementsOfARowBecomeZero) {
  using T = TypeParam;
  test::on_every_target([] {
    // exp(-Inf) = 0 and the two others are equal: 0.5 each; log-sum-exp = 1 + log 2
    std::vector<T> x = {test::stored(-kInfinity, T{}), test::stored(1.0F, T{}), test::stored(1.0F, T{})};
    float log_sum_exp = 0.0F;
    softmax_forward(x.data(), MatrixShape{.rows = 1, .columns = 3}, 1.0F, &log_sum_exp);
    EXPECT_EQ(to_float(x[0]), 0.0F);
    EXPECT_EQ(to_float(x[1]), 0.5F);
    EXPECT_EQ(to_float(x[2]), 0.5F);
    EXPECT_FLOAT_EQ(log_sum_exp, 1.0F + std::log(2.0F));
  });
}

TEST(Softmax, LargeAndDistantLogitsNeitherOverflowNorVanish) {
  test::on_every_target([] {
    std::vector<float> x = {3e38F, 3e38F, -3e38F, 0.0F};
    softmax_forward(x.data(), MatrixShape{.rows = 1, .columns = 4}, 1.0F);
    EXPECT_EQ(x, (std::vector<float>{0.5F, 0.5F, 0.0F, 0.0F}));
  });
}

TEST(Softmax, NaNMakesItsRowNaNWhereverItStandsAndNoOther) {
  test::on_every_target([] {
    for (std::size_t at = 0; at < 19; ++at) {
      for (const float rest : {1.0F, -kInfinity}) {
        std::vector<float> x(38, rest);
        x[at] = test::kNaN;
        softmax_forward(x.data(), MatrixShape{.rows = 2, .columns = 19}, 1.0F);
        for (std::size_t i = 0; i < 38; ++i) ASSERT_EQ(std::isnan(x[i]), i < 19) << at << " " << rest << " " << i;
      }
    }
  });
}

TEST(Softmax, EmptyRowsHaveLogSumExpMinusInfinityAndGapsStay) {
  std::vector<float> x(6, 7.0F), log_sum_exp(2);
  softmax_forward(x.data(), MatrixShape{.rows = 2, .columns = 0, .stride = 3}, 1.0F, log_sum_exp.data());
  EXPECT_EQ(x, std::vector<float>(6, 7.0F));
  EXPECT_EQ(log_sum_exp, std::vector<float>(2, -kInfinity));
  softmax_forward(x.data(), MatrixShape{.rows = 2, .columns = 2, .stride = 3}, 1.0F);
  EXPECT_EQ(x, (std::vector<float>{0.5F, 0.5F, 7.0F, 0.5F, 0.5F, 7.0F}));
}

TYPED_TEST(SoftmaxTest, ResultsDoNotDependOnThreadsOrOnTheRow) {
  using T = TypeParam;
  const auto x = test::random_values<T>(900 * 37, 4);
  const MatrixShape shape{.rows = 900, .columns = 37};
  test::expect_same_bits_for_any_threads([&] {
    auto y = x;
    softmax_forward(y.data(), shape, 0.3F);
    softmax_backward(y.data(), x.data(), y.data(), shape, 0.3F);
    return y;
  });
  test::on_every_target([&] {
    auto whole = x;
    softmax_forward(whole.data(), shape, 0.3F);
    for (const std::int64_t row : {1, 2, 3, 899}) {
      auto one = std::vector<T>(x.begin() + row * 37, x.begin() + (row + 1) * 37);
      softmax_forward(one.data(), MatrixShape{.rows = 1, .columns = 37}, 0.3F);
      EXPECT_TRUE(test::same_bits(one.data(), whole.data() + row * 37, 37));
    }
  });
}

}  // namespace
}  // namespace eflops::kernels
