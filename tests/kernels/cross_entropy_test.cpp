#include "kernels/cross_entropy.h"

#include "base/error.h"
#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::kNaN;
using test::to_double;

TEST(CrossEntropy, AgreesWithTheReference) {
  test::on_every_target([] {
    for (const std::int64_t columns : {1, 2, 7, 8, 9, 65, 1000, 3001}) {
      const MatrixShape shape{.rows = 4, .columns = columns, .stride = columns};
      const auto logits = test::random_values<float>(4 * columns, 1, 3.0);
      const auto last = static_cast<std::int32_t>(columns - 1);
      const std::vector<std::int32_t> labels = {0, last, kIgnoredLabel, last / 2};
      auto d_logits = logits;
      std::vector<double> loss(4);
      const auto totals =
          cross_entropy_with_gradient(d_logits.data(), shape, labels.data(), 0.25F, {.loss = loss.data()});
      const auto expected =
          reference::cross_entropy(to_double(logits), static_cast<std::size_t>(columns), labels, 0.25);
      // Terms within 2e-7 relative, in sums of positive terms: so is the sum, and its logarithm within 2e-7 absolute.
      EXPECT_NEAR(totals.loss, expected.total, 2e-6);
      EXPECT_EQ(totals.counted, 3);
      for (std::size_t row = 0; row < 4; ++row) ASSERT_NEAR(loss[row], expected.loss[row], 1e-6);
      test::expect_close(d_logits, expected.d_logits, 1e-6);
      std::vector<double> again(4);
      EXPECT_EQ(cross_entropy(logits.data(), shape, labels.data(), {.loss = again.data()}).loss, totals.loss);
      EXPECT_EQ(again, loss);
    }
  });
}

TEST(CrossEntropy, CountsWhatIsRightAndTakesTheFirstOfEqualLogits) {
  test::on_every_target([] {
    std::vector<float> logits(3 * 30, 0.0F);
    logits[17] = logits[23] = 2.0F;  // row 0: equal maxima at 17 and 23
    logits[30 + 29] = 5.0F;          // row 1: in the tail of every vector length
    const std::vector<std::int32_t> labels = {17, 29, 0};
    std::vector<std::int32_t> argmax(3);
    const auto totals =
        cross_entropy(logits.data(), MatrixShape{.rows = 3, .columns = 30}, labels.data(), {.argmax = argmax.data()});
    EXPECT_EQ(argmax, (std::vector<std::int32_t>{17, 29, 0}));
    EXPECT_EQ(totals.correct, 3);
  });
}

TEST(CrossEntropy, AnIgnoredRowHasNoLossAndZeroGradientWhateverItHolds) {
  test::on_every_target([] {
    std::vector<float> logits(20, kNaN);
    const std::int32_t label = kIgnoredLabel;
    std::int32_t argmax = 5;
    const auto totals = cross_entropy_with_gradient(logits.data(), MatrixShape{.rows = 1, .columns = 20}, &label, 1.0F,
                                                    {.argmax = &argmax});
    EXPECT_EQ(totals.loss, 0.0);
    EXPECT_EQ(totals.counted, 0);
    EXPECT_EQ(logits, std::vector<float>(20, 0.0F));
    EXPECT_EQ(argmax, 0);
  });
}

TEST(CrossEntropy, NaNReachesTheLossFromAnyPlace) {
  test::on_every_target([] {
    for (std::size_t at = 0; at < 19; ++at) {
      std::vector<float> logits(19, 1.0F);
      logits[at] = kNaN;
      const std::int32_t label = 3;
      std::int32_t argmax = -1;
      const auto totals =
          cross_entropy(logits.data(), MatrixShape{.rows = 1, .columns = 19}, &label, {.argmax = &argmax});
      ASSERT_TRUE(std::isnan(totals.loss)) << at;
      ASSERT_EQ(argmax, static_cast<std::int32_t>(at));
    }
  });
}

TEST(CrossEntropy, HugeLogitsStayFinite) {
  // The label's logit is 2e30 below the largest: loss 2e30 exactly as floats give it.
  std::vector<float> logits = {1e30F, -1e30F};
  const std::int32_t label = 1;
  const auto totals = cross_entropy_with_gradient(logits.data(), MatrixShape{.rows = 1, .columns = 2}, &label, 1.0F);
  EXPECT_EQ(totals.loss, 2.0 * static_cast<double>(1e30F));
  EXPECT_EQ(logits, (std::vector<float>{1.0F, -1.0F}));
}

TEST(CrossEntropy, ALabelOutsideTheColumnsIsRefused) {
  std::vector<float> logits(4);
  for (const std::int32_t label : {-1, 4, -101}) {
    EXPECT_THROW(cross_entropy(logits.data(), MatrixShape{.rows = 1, .columns = 4}, &label), InternalError) << label;
  }
}

TEST(CrossEntropy, NoRowsGiveNothing) {
  const auto totals = cross_entropy(nullptr, MatrixShape{.rows = 0, .columns = 10}, nullptr);
  EXPECT_EQ(totals.loss, 0.0);
  EXPECT_EQ(totals.counted, 0);
}

TEST(CrossEntropy, ResultsDoNotDependOnThreads) {
  const auto logits = test::random_values<float>(40 * 1001, 2);
  std::vector<std::int32_t> labels;
  for (std::int32_t row = 0; row < 40; ++row) labels.push_back(row * 25);
  test::expect_same_bits_for_any_threads([&] {
    auto d = logits;
    const MatrixShape shape{.rows = 40, .columns = 1001};
    const double loss = cross_entropy_with_gradient(d.data(), shape, labels.data(), 0.1F).loss;
    std::vector<double> all(d.begin(), d.end());
    all.push_back(loss);
    return all;
  });
}

}  // namespace
}  // namespace eflops::kernels
