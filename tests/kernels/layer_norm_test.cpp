#include "kernels/layer_norm.h"

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::to_double;
using test::Values;

constexpr float kEpsilon = 1e-3F;

/// Inputs of one case and everything the kernels write.
template <typename T>
struct Case {
  std::int64_t rows;
  std::int64_t columns;
  std::vector<T> x, d_y;
  std::vector<float> gamma, beta;
  std::vector<T> y, d_x;
  std::vector<float> mean, rstd, d_gamma, d_beta;

  Case(std::int64_t row_count, std::int64_t column_count) : rows(row_count), columns(column_count) {
    x = test::random_values<T>(rows * columns, 1);
    for (T& value : x) value = test::stored(to_float(value) + 0.5F, T{});
    d_y = test::random_values<T>(rows * columns, 2);
    gamma = test::random_values<float>(columns, 3);
    beta = test::random_values<float>(columns, 4);
    y.resize(x.size());
    d_x.resize(x.size());
    mean.resize(static_cast<std::size_t>(rows));
    rstd.resize(static_cast<std::size_t>(rows));
    d_gamma.assign(gamma.size(), 1.0F);
    d_beta.assign(beta.size(), -1.0F);
  }

  void run() {
    layer_norm_forward(LayerNormForward<T>{.rows = rows,
                                           .columns = columns,
                                           .x = x.data(),
                                           .gamma = gamma.data(),
                                           .beta = beta.data(),
                                           .epsilon = kEpsilon,
                                           .y = y.data(),
                                           .mean = mean.data(),
                                           .rstd = rstd.data()});
    layer_norm_backward(LayerNormBackward<T>{.rows = rows,
                                             .columns = columns,
                                             .d_y = d_y.data(),
                                             .x = x.data(),
                                             .gamma = gamma.data(),
                                             .mean = mean.data(),
                                             .rstd = rstd.data(),
                                             .d_x = d_x.data(),
                                             .d_gamma = d_gamma.data(),
                                             .d_beta = d_beta.data()});
  }
};

template <typename T>
struct LayerNormTest : testing::Test {};
TYPED_TEST_SUITE(LayerNormTest, test::StorageTypes);

TYPED_TEST(LayerNormTest, AgreesWithTheReference) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t columns : test::kSizes) {
      if (columns == 0) continue;
      for (const std::int64_t rows : {1, 3, 33}) {
        Case<T> c(rows, columns);
        c.run();
        const auto forward = reference::layer_norm(to_double(c.x), to_double(c.gamma), to_double(c.beta), kEpsilon);
        auto backward = reference::layer_norm_backward(to_double(c.d_y), to_double(c.x), to_double(c.gamma), kEpsilon);
        for (double& d : backward.d_gamma) d += 1.0;
        for (double& d : backward.d_beta) d -= 1.0;
        // With a row of nearly equal elements rstd reaches 1/sqrt(1e-3) = 32, which multiplies rounding errors of 1e-7.
        test::expect_close(c.mean, forward.mean, 1e-6);
        test::expect_close(c.rstd, forward.rstd, 1e-5);
        test::expect_close(c.y, forward.y, 2e-5);
        test::expect_close(c.d_x, backward.d_x, 1e-4);
        test::expect_close(c.d_gamma, backward.d_gamma, 1e-4);
        test::expect_close(c.d_beta, backward.d_beta, 1e-5);
      }
    }
  });
}

TEST(LayerNorm, NormalisesASimpleRowExactly) {
  // mean 3, variance 1, epsilon 0: y = (x - 3) * 2 + 10
  const std::vector<float> x = {2, 4, 2, 4}, gamma(4, 2.0F), beta(4, 10.0F);
  std::vector<float> y(4), mean(1), rstd(1);
  layer_norm_forward<float>({.rows = 1,
                             .columns = 4,
                             .x = x.data(),
                             .gamma = gamma.data(),
                             .beta = beta.data(),
                             .epsilon = 0.0F,
                             .y = y.data(),
                             .mean = mean.data(),
                             .rstd = rstd.data()});
  EXPECT_EQ(y, (std::vector<float>{8, 12, 8, 12}));
  EXPECT_EQ(mean[0], 3.0F);
  EXPECT_EQ(rstd[0], 1.0F);
}

TEST(LayerNorm, ALargeMeanCostsNoMoreThanItsOwnRounding) {
  // Elements 10000 + k/16 are exact in float; the mean of 64 of them, k = 0..63, is 10000 + 31.5/16 and the variance
  // (64^2 - 1) / 12 / 256. A one-pass variance would lose all digits here.
  std::vector<float> x, gamma(64, 1.0F), beta(64, 0.0F), y(64), mean(1), rstd(1);
  for (int k = 0; k < 64; ++k) x.push_back(10000.0F + static_cast<float>(k) / 16.0F);
  test::on_every_target([&] {
    layer_norm_forward<float>({.rows = 1,
                               .columns = 64,
                               .x = x.data(),
                               .gamma = gamma.data(),
                               .beta = beta.data(),
                               .epsilon = 0.0F,
                               .y = y.data(),
                               .mean = mean.data(),
                               .rstd = rstd.data()});
    // A float near 10002 is known to 2^-11 = 4.9e-4; so are mean and every difference from it, against a deviation
    // of 1.15.
    EXPECT_NEAR(mean[0], 10000.0 + 31.5 / 16.0, 4.9e-4);
    EXPECT_NEAR(rstd[0], 1.0 / std::sqrt(4095.0 / 12.0 / 256.0), 1e-5);
  });
}

TYPED_TEST(LayerNormTest, ARowHasTheSameBitsAnywhere) {
  using T = TypeParam;
  test::on_every_target([] {
    Case<T> all(9, 67);
    all.run();
    for (std::int64_t row = 0; row < 9; ++row) {
      Case<T> one(1, 67);
      const auto first = static_cast<std::size_t>(row * 67);
      std::copy_n(all.x.begin() + row * 67, 67, one.x.begin());
      std::copy_n(all.d_y.begin() + row * 67, 67, one.d_y.begin());
      one.run();
      EXPECT_TRUE(test::same_bits(one.y.data(), all.y.data() + first, 67));
      EXPECT_TRUE(test::same_bits(one.d_x.data(), all.d_x.data() + first, 67));
    }
  });
}

TYPED_TEST(LayerNormTest, ResultsDoNotDependOnThreads) {
  using T = TypeParam;
  test::expect_same_bits_for_any_threads([] {
    Case<T> c(400, 65);
    c.run();
    auto all = c.d_gamma;
    all.insert(all.end(), c.d_beta.begin(), c.d_beta.end());
    for (const T value : c.y) all.push_back(to_float(value));
    for (const T value : c.d_x) all.push_back(to_float(value));
    return all;
  });
}

TEST(LayerNorm, NaNStaysInItsRowAndNoRowsChangeNothing) {
  Case<float> c(3, 17);
  c.x[20] = test::kNaN;  // row 1
  c.run();
  for (std::size_t i = 0; i < c.y.size(); ++i) EXPECT_EQ(std::isnan(c.y[i]), i / 17 == 1) << i;
  Case<float> none(0, 17);
  none.run();
  EXPECT_EQ(none.d_gamma, std::vector<float>(17, 1.0F));
}

}  // namespace
}  // namespace eflops::kernels
