// The double references are right: their gradients agree with finite differences, their values with known numbers.
#include "tests/support/reference_ops.h"

#include <gtest/gtest.h>

#include "kernels/cross_entropy.h"
#include "tests/support/finite_difference.h"

namespace eflops::reference {
namespace {

// Truncation h^2 = 1e-10 times a third derivative of order 10, and rounding 1e-16 / 1e-5, leave 1e-8 with room.
constexpr double kTolerance = 1e-8;

Values random_values(std::size_t n, std::uint64_t seed) {
  Random random(seed, Purpose::Test);
  Values values(n);
  for (double& value : values) value = random.normal();
  return values;
}

TEST(Reference, GeluHasItsKnownValues) {
  // cdf(1) = 0.841344746..., the tanh form at 1 is 0.841191990... (Hendrycks and Gimpel's two formulas).
  EXPECT_NEAR(gelu(1.0, kernels::Gelu::Erf), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(gelu(-1.0, kernels::Gelu::Erf), -0.15865525393145707, 1e-15);
  EXPECT_NEAR(gelu(1.0, kernels::Gelu::Tanh), 0.8411919906082768, 1e-12);
}

TEST(Reference, ActivationGradientsAgreeWithFiniteDifferences) {
  const Values x = random_values(9, 1);
  const Values w = random_values(9, 2);
  for (const auto kind : {kernels::Gelu::Erf, kernels::Gelu::Tanh}) {
    const auto f = [&](const Values& v) { return weighted_sum(gelu(v, kind), w); };
    EXPECT_LT(gradient_error(f, x, gelu_backward(x, w, kind)), kTolerance);
  }
  const auto f = [&](const Values& v) { return weighted_sum(tanh(v), w); };
  EXPECT_LT(gradient_error(f, x, tanh_backward(tanh(x), w)), kTolerance);
}

TEST(Reference, LinearGradientsAgreeWithFiniteDifferences) {
  const Values x = random_values(6, 3), weight = random_values(12, 4), bias = random_values(4, 5);
  const Values w = random_values(8, 6);
  const LinearGradients g = linear_backward(w, x, weight, 3);
  EXPECT_LT(gradient_error([&](const Values& v) { return weighted_sum(linear(v, weight, bias, 3), w); }, x, g.d_x),
            kTolerance);
  EXPECT_LT(gradient_error([&](const Values& v) { return weighted_sum(linear(x, v, bias, 3), w); }, weight, g.d_weight),
            kTolerance);
  EXPECT_LT(gradient_error([&](const Values& v) { return weighted_sum(linear(x, weight, v, 3), w); }, bias, g.d_bias),
            kTolerance);
}

TEST(Reference, LayerNormGradientsAgreeWithFiniteDifferences) {
  const Values x = random_values(15, 7), gamma = random_values(5, 8), beta = random_values(5, 9);
  const Values w = random_values(15, 10);
  const LayerNormGradients g = layer_norm_backward(w, x, gamma, 1e-3);
  const auto f = [&](const Values& a, const Values& b, const Values& c) {
    return weighted_sum(layer_norm(a, b, c, 1e-3).y, w);
  };
  EXPECT_LT(gradient_error([&](const Values& v) { return f(v, gamma, beta); }, x, g.d_x), kTolerance);
  EXPECT_LT(gradient_error([&](const Values& v) { return f(x, v, beta); }, gamma, g.d_gamma), kTolerance);
  EXPECT_LT(gradient_error([&](const Values& v) { return f(x, gamma, v); }, beta, g.d_beta), kTolerance);
}

TEST(Reference, DropoutGradientAgreesWithFiniteDifferences) {
  const std::vector<std::uint64_t> keys = {11, 12};
  const kernels::Dropout rule{.probability = 0.5F, .salt = 3, .row_keys = keys.data()};
  const Values x = random_values(20, 11), w = random_values(20, 12);
  const auto f = [&](const Values& v) { return weighted_sum(dropout(v, 10, rule), w); };
  EXPECT_LT(gradient_error(f, x, dropout(w, 10, rule)), kTolerance);
}

TEST(Reference, SoftmaxGradientAgreesWithFiniteDifferences) {
  const Values x = random_values(12, 13), w = random_values(12, 14);
  const auto f = [&](const Values& v) { return weighted_sum(softmax(v, 4, 0.7).y, w); };
  EXPECT_LT(gradient_error(f, x, softmax_backward(softmax(x, 4, 0.7).y, w, 4, 0.7)), kTolerance);
}

TEST(Reference, CrossEntropyGradientAgreesWithFiniteDifferences) {
  const Values logits = random_values(15, 15);
  const Ids labels = {4, kernels::kIgnoredLabel, 0};
  const auto f = [&](const Values& v) { return 0.25 * cross_entropy(v, 5, labels).total; };
  EXPECT_LT(gradient_error(f, logits, cross_entropy(logits, 5, labels, 0.25).d_logits), kTolerance);
}

TEST(Reference, CrossEntropyOfEqualLogitsIsTheLogarithmOfTheirNumber) {
  EXPECT_NEAR(cross_entropy(Values(8, 3.0), 8, {5}).total, std::log(8.0), 1e-15);
}

TEST(Reference, LookupGradientAgreesWithFiniteDifferences) {
  const Values table = random_values(12, 16), w = random_values(12, 17);
  const Ids ids = {2, 0, 2, 3};
  Values gradient(12);
  lookup_backward(w, ids, 3, gradient);
  const auto f = [&](const Values& v) { return weighted_sum(lookup(v, ids, 3), w); };
  EXPECT_LT(gradient_error(f, table, gradient), kTolerance);
}

TEST(Reference, AWrongGradientIsFound) {
  const Values x = {0.5, -0.5};
  const auto f = [](const Values& v) { return v[0] * v[0] + v[1]; };
  EXPECT_LT(gradient_error(f, x, {1.0, 1.0}), kTolerance);
  EXPECT_NEAR(gradient_error(f, x, {1.0, 1.5}), 0.5 / 1.5, 1e-6);
}

}  // namespace
}  // namespace eflops::reference
