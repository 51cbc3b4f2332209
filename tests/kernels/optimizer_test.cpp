#include "kernels/optimizer.h"

#include "kernels/norm.h"
#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::to_double;
using test::Values;

/// Parameters after some steps: m small, v positive.
struct Parameters {
  std::vector<float> values, gradients, m, v;
  std::vector<bf16> copy;

  explicit Parameters(std::int64_t n) {
    values = test::random_values<float>(n, 1);
    gradients = test::random_values<float>(n, 2);
    m = test::random_values<float>(n, 3, 0.1);
    v = test::random_values<float>(n, 4, 0.1);
    for (float& x : v) x *= x;
    copy.resize(values.size());
  }
  AdamBuffers buffers() {
    return {.values = values.data(),
            .gradients = gradients.data(),
            .m = m.data(),
            .v = v.data(),
            .n = static_cast<std::int64_t>(values.size()),
            .copy = copy.data()};
  }
};

const std::vector<AdamStep> kSteps = {
    {.learning_rate = 0.01F, .weight_decay = 0.01F},  // Google BERT
    {.learning_rate = 0.01F, .epsilon = 1e-8F, .bias_correction1 = 0.271F, .bias_correction2 = 0.002997F},
    {.learning_rate = 0.01F, .weight_decay = 0.1F, .gradient_scale = 0.125F},
};

TEST(AdamW, AgreesWithTheReference) {
  test::on_every_target([] {
    for (const AdamStep& step : kSteps) {
      for (const std::int64_t n : test::kSizes) {
        Parameters p(n);
        Values values, m, v;
        for (std::size_t i = 0; i < p.values.size(); ++i) {
          reference::AdamState state{p.values[i], p.m[i], p.v[i]};
          const double direction = reference::adam_direction(state, p.gradients[i], step);
          values.push_back(state.value - static_cast<double>(step.learning_rate) * direction);
          m.push_back(state.m);
          v.push_back(state.v);
        }
        adamw_update(p.buffers(), step);
        // A handful of float operations on numbers of order 1; directions reach 1e3 where v is tiny, times the rate
        // 0.01.
        test::expect_close(p.m, m, 5e-7);
        test::expect_close(p.v, v, 5e-7);
        test::expect_close(p.values, values, 1e-5);
        for (std::size_t i = 0; i < p.values.size(); ++i) ASSERT_EQ(p.copy[i], eflops::to_bf16(p.values[i]));
      }
    }
  });
}

TEST(AdamW, FirstStepWithCorrectionMovesByTheLearningRate) {
  // m = (1 - b1) g and v = (1 - b2) g^2 corrected are g and g^2: the step is lr g / |g|, to the rounding of 1 - b2.
  std::vector<float> values = {1.0F, 1.0F}, m(2), v(2);
  const std::vector<float> gradients = {3.0F, -0.01F};
  adamw_update(
      {.values = values.data(), .gradients = gradients.data(), .m = m.data(), .v = v.data(), .n = 2},
      {.learning_rate = 0.5F, .epsilon = 0.0F, .bias_correction1 = 1.0F - 0.9F, .bias_correction2 = 1.0F - 0.999F});
  EXPECT_NEAR(values[0], 0.5F, 1e-6);
  EXPECT_NEAR(values[1], 1.5F, 1e-6);
}

TEST(AdamW, ANaNGradientTouchesItsElementOnly) {
  test::on_every_target([] {
    Parameters p(20);
    p.gradients[7] = test::kNaN;
    adamw_update(p.buffers(), kSteps[0]);
    EXPECT_EQ(first_nonfinite(p.values.data(), 20), 7);
    EXPECT_EQ(first_nonfinite(p.values.data() + 8, 12), -1);
  });
}

TEST(AdamW, AnElementHasTheSameBitsAnywhereAndForAnyThreads) {
  test::on_every_target([] {
    Parameters whole(50);
    adamw_update(whole.buffers(), kSteps[0]);
    for (std::int64_t begin = 0; begin < 50; ++begin) {
      Parameters piece(50);
      AdamBuffers part = piece.buffers();
      part = {.values = part.values + begin,
              .gradients = part.gradients + begin,
              .m = part.m + begin,
              .v = part.v + begin,
              .n = std::min<std::int64_t>(11, 50 - begin)};
      adamw_update(part, kSteps[0]);
      const auto n = static_cast<std::size_t>(part.n);
      ASSERT_TRUE(test::same_bits(part.values, whole.values.data() + begin, n));
    }
  });
  test::expect_same_bits_for_any_threads([] {
    Parameters p(40000);
    adamw_update(p.buffers(), kSteps[1]);
    return p.values;
  });
}

TEST(Lamb, DirectionNormsAndStepAgreeWithTheReference) {
  test::on_every_target([] {
    for (const std::int64_t n : {1, 7, 64, 4096, 4097, 10000}) {
      const AdamStep& step = kSteps[0];
      Parameters p(n);
      const std::vector<float> before = p.values;
      Values direction;
      for (std::size_t i = 0; i < p.values.size(); ++i) {
        reference::AdamState state{p.values[i], p.m[i], p.v[i]};
        direction.push_back(reference::adam_direction(state, p.gradients[i], step));
      }
      std::vector<float> update(p.values.size());
      const LambNorms norms = lamb_direction(p.buffers(), step, update.data());
      test::expect_close(update, direction, 1e-5);
      EXPECT_TRUE(test::same_bits(p.values, before));
      EXPECT_EQ(norms.value_squared, sum_of_squares(p.values.data(), n));
      EXPECT_EQ(norms.update_squared, sum_of_squares(update.data(), n));

      lamb_apply(p.values.data(), update.data(), n, 0.25F, p.copy.data());
      Values expected;
      for (std::size_t i = 0; i < before.size(); ++i)
        expected.push_back(before[i] - 0.25 * static_cast<double>(update[i]));
      test::expect_close(p.values, expected, 1e-6);
      for (std::size_t i = 0; i < before.size(); ++i) ASSERT_EQ(p.copy[i], eflops::to_bf16(p.values[i]));
    }
  });
}

TEST(Lamb, DirectionMayOverwriteTheGradients) {
  Parameters p(100), q(100);
  std::vector<float> update(100);
  lamb_direction(p.buffers(), kSteps[0], update.data());
  lamb_direction(q.buffers(), kSteps[0], q.gradients.data());
  EXPECT_TRUE(test::same_bits(update, q.gradients));
}

TEST(Lamb, TrustRatioIsTheRatioOfNormsOrOne) {
  EXPECT_EQ(lamb_trust_ratio({.value_squared = 4.0, .update_squared = 16.0}), 0.5);
  EXPECT_EQ(lamb_trust_ratio({.value_squared = 0.0, .update_squared = 16.0}), 1.0);
  EXPECT_EQ(lamb_trust_ratio({.value_squared = 4.0, .update_squared = 0.0}), 1.0);
}

TEST(Lamb, ResultsDoNotDependOnThreads) {
  test::expect_same_bits_for_any_threads([] {
    Parameters p(40000);
    std::vector<float> update(40000);
    const LambNorms norms = lamb_direction(p.buffers(), kSteps[0], update.data());
    lamb_apply(p.values.data(), update.data(), 40000, 0.1F);
    std::vector<double> all(p.values.begin(), p.values.end());
    all.push_back(norms.value_squared);
    all.push_back(norms.update_squared);
    return all;
  });
}

}  // namespace
}  // namespace eflops::kernels
