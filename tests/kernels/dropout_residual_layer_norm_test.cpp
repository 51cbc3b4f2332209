#include "base/error.h"
#include "kernels/bias.h"
#include "kernels/elementwise.h"
#include "kernels/layer_norm.h"
#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::to_double;
using test::Values;

constexpr float kEpsilon = 1e-3F;

template <typename T>
struct Case {
  std::int64_t rows;
  std::int64_t columns;
  std::vector<std::uint64_t> keys;
  Dropout dropout;
  std::vector<T> gemm_out, residual, d_y;
  std::vector<float> bias, gamma, beta;
  std::vector<T> z, y, d_residual, d_gemm_out;
  std::vector<float> mean, rstd, d_gamma, d_beta, d_bias;

  Case(std::int64_t row_count, std::int64_t column_count, float probability) : rows(row_count), columns(column_count) {
    Random random(1, Purpose::Test);
    for (std::int64_t i = 0; i < rows; ++i) keys.push_back(random.next_u64());
    dropout = {.probability = probability, .salt = 42, .row_keys = keys.data()};
    gemm_out = test::random_values<T>(rows * columns, 2);
    residual = test::random_values<T>(rows * columns, 3);
    d_y = test::random_values<T>(rows * columns, 4);
    bias = test::random_values<float>(columns, 5);
    gamma = test::random_values<float>(columns, 6);
    beta = test::random_values<float>(columns, 7);
    for (auto* buffer : {&z, &y, &d_residual, &d_gemm_out}) buffer->resize(gemm_out.size());
    for (auto* buffer : {&mean, &rstd}) buffer->resize(static_cast<std::size_t>(rows));
    for (auto* buffer : {&d_gamma, &d_beta, &d_bias}) buffer->assign(bias.size(), 1.0F);
  }

  void forward() { forward(gemm_out.data()); }
  void forward(const T* sublayer) {
    dropout_residual_layer_norm_forward<T>({.rows = rows,
                                            .columns = columns,
                                            .gemm_out = sublayer,
                                            .bias = bias.data(),
                                            .residual = residual.data(),
                                            .dropout = dropout,
                                            .gamma = gamma.data(),
                                            .beta = beta.data(),
                                            .epsilon = kEpsilon,
                                            .z = z.data(),
                                            .y = y.data(),
                                            .mean = mean.data(),
                                            .rstd = rstd.data()});
  }
  void backward() {
    dropout_residual_layer_norm_backward<T>({.rows = rows,
                                             .columns = columns,
                                             .d_y = d_y.data(),
                                             .z = z.data(),
                                             .gamma = gamma.data(),
                                             .mean = mean.data(),
                                             .rstd = rstd.data(),
                                             .dropout = dropout,
                                             .d_residual = d_residual.data(),
                                             .d_gemm_out = d_gemm_out.data(),
                                             .d_gamma = d_gamma.data(),
                                             .d_beta = d_beta.data(),
                                             .d_bias = d_bias.data()});
  }
};

template <typename T>
struct BlockEnd : testing::Test {};
TYPED_TEST_SUITE(BlockEnd, test::StorageTypes);

TYPED_TEST(BlockEnd, AgreesWithTheReference) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t columns : {1, 7, 8, 63, 64, 65, 200}) {
      for (const float p : {0.0F, 0.1F}) {
        Case<T> c(35, columns, p);
        const auto width = static_cast<std::size_t>(columns);
        c.forward();
        Values z = reference::dropout(reference::add_bias(to_double(c.gemm_out), to_double(c.bias)), width, c.dropout);
        const Values residual = to_double(c.residual);
        for (std::size_t i = 0; i < z.size(); ++i) z[i] += residual[i];
        test::expect_close(c.z, z, 1e-6);

        // From the z that was stored, so that its rounding to bf16 does not enter the comparison.
        const Values stored = to_double(c.z);
        c.backward();
        test::expect_close(c.y, reference::layer_norm(stored, to_double(c.gamma), to_double(c.beta), kEpsilon).y, 2e-5);
        auto g = reference::layer_norm_backward(to_double(c.d_y), stored, to_double(c.gamma), kEpsilon);
        test::expect_close(c.d_residual, g.d_x, 1e-4);
        const Values d_out = reference::dropout(to_double(c.d_residual), width, c.dropout);
        test::expect_close(c.d_gemm_out, d_out, 1e-6);
        Values d_bias = reference::column_sums(d_out, width);
        for (auto* sums : {&g.d_gamma, &g.d_beta, &d_bias}) {
          for (double& sum : *sums) sum += 1.0;
        }
        test::expect_close(c.d_gamma, g.d_gamma, 1e-4);
        test::expect_close(c.d_beta, g.d_beta, 1e-5);
        test::expect_close(c.d_bias, d_bias, 1e-4);
      }
    }
  });
}

TEST(BlockEndFloat, HasTheBitsOfItsPartsInARow) {
  test::on_every_target([] {
    Case<float> c(70, 77, 0.2F);
    c.forward();
    c.backward();
    const MatrixShape shape{.rows = 70, .columns = 77};
    auto z = c.gemm_out;
    add_bias(z.data(), c.bias.data(), shape);
    dropout_forward(z.data(), z.data(), shape, c.dropout);
    add_into(z.data(), c.residual.data(), 70 * 77);
    EXPECT_TRUE(test::same_bits(c.z, z));
    std::vector<float> d_out(z.size()), d_bias(77, 1.0F);
    dropout_backward(c.d_residual.data(), d_out.data(), shape, c.dropout);
    accumulate_column_sums(d_out.data(), shape, d_bias.data());
    EXPECT_TRUE(test::same_bits(c.d_gemm_out, d_out));
    EXPECT_TRUE(test::same_bits(c.d_bias, d_bias));
  });
}

TYPED_TEST(BlockEnd, ResultsDoNotDependOnThreadsOrOnWorkingInPlace) {
  using T = TypeParam;
  const auto run = [](bool in_place) {
    Case<T> c(300, 65, 0.1F);
    if (in_place) c.z = c.gemm_out;
    c.forward(in_place ? c.z.data() : c.gemm_out.data());
    c.backward();
    std::vector<float> all;
    for (const auto* buffer : {&c.d_gamma, &c.d_beta, &c.d_bias}) all.insert(all.end(), buffer->begin(), buffer->end());
    for (const auto* buffer : {&c.y, &c.d_residual, &c.d_gemm_out}) {
      for (const T value : *buffer) all.push_back(to_float(value));
    }
    return all;
  };
  test::expect_same_bits_for_any_threads([&] { return run(false); });
  EXPECT_TRUE(test::same_bits(run(false), run(true)));
}

TEST(BlockEndFloat, RefusesBuffersThatWouldOverwriteWhatBackwardNeeds) {
  Case<float> c(2, 8, 0.1F);
  DropoutResidualLayerNormForward<float> op{.rows = 2, .columns = 8, .z = c.z.data(), .y = c.z.data()};
  EXPECT_THROW(dropout_residual_layer_norm_forward(op), InternalError);
  DropoutResidualLayerNormBackward<float> back{
      .rows = 2, .columns = 8, .dropout = c.dropout, .d_residual = c.z.data(), .d_gemm_out = c.z.data()};
  EXPECT_THROW(dropout_residual_layer_norm_backward(back), InternalError);
}

}  // namespace
}  // namespace eflops::kernels
