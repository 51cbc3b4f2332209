#include "kernels/norm.h"

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

const std::vector<std::int64_t> kLengths = {0, 1, 3, 4, 7, 8, 15, 17, 4095, 4096, 4097, 8192, 40001};

TEST(Norm, SumsOfSquaresOfIntegersAreExact) {
  test::on_every_target([] {
    for (const std::int64_t n : kLengths) {
      std::vector<float> x;
      double expected = 0.0;
      for (std::int64_t i = 0; i < n; ++i) {
        x.push_back(static_cast<float>(i % 101 - 50));
        expected += static_cast<double>((i % 101 - 50) * (i % 101 - 50));
      }
      ASSERT_EQ(sum_of_squares(x.data(), n), expected) << n;
    }
  });
}

TEST(Norm, NeitherOverflowsNorLosesSmallTermsAsFloatWould) {
  test::on_every_target([] {
    const std::vector<float> large(9, 1e30F);
    EXPECT_NEAR(sum_of_squares(large.data(), 9) / (9.0 * 1e60), 1.0, 1e-6);
    const std::vector<float> small(9, 0x1p-100F);
    EXPECT_EQ(sum_of_squares(small.data(), 9), 9.0 * 0x1p-200);
  });
}

TEST(Norm, IsTheBlockSumsInIndexOrderWhateverIsSplitOff) {
  const std::int64_t n = 5 * kNormBlock + 100;
  const auto x = test::random_values<float>(n, 1);
  test::on_every_target([&] {
    std::vector<double> sums(6), parts(6);
    block_sums_of_squares(x.data(), n, sums.data());
    block_sums_of_squares(x.data(), 2 * kNormBlock, parts.data());
    block_sums_of_squares(x.data() + 2 * kNormBlock, n - 2 * kNormBlock, parts.data() + 2);
    EXPECT_EQ(sums, parts);
    double total = 0.0;
    for (const double sum : sums) total += sum;
    EXPECT_EQ(sum_of_squares(x.data(), n), total);
    EXPECT_NEAR(total, reference::sum_of_squares(test::to_double(x)), 1e-12 * total);
  });
}

TEST(Norm, DoesNotDependOnThreads) {
  const auto x = test::random_values<float>(100000, 2);
  test::expect_same_bits_for_any_threads([&] { return std::vector<double>{sum_of_squares(x.data(), 100000)}; });
}

TEST(Norm, FindsTheFirstElementThatIsNotFinite) {
  test::on_every_target([] {
    std::vector<float> x(40001, 3e38F);
    x[5] = 1e-40F;
    EXPECT_EQ(first_nonfinite(x.data(), 40001), -1);
    EXPECT_EQ(first_nonfinite(x.data(), 0), -1);
    for (const std::int64_t at : {40000, 20000, 4096, 4095, 3, 0}) {
      for (const float bad : {test::kNaN, test::kInfinity, -test::kInfinity}) {
        x[static_cast<std::size_t>(at)] = bad;
        ASSERT_EQ(first_nonfinite(x.data(), 40001), at);
      }
    }
    EXPECT_EQ(sum_of_squares(x.data(), 40001), INFINITY);
    x[9] = test::kNaN;
    EXPECT_TRUE(std::isnan(sum_of_squares(x.data(), 40001)));
  });
}

}  // namespace
}  // namespace eflops::kernels
