#include "base/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"

namespace eflops::stats {
namespace {

using Values = std::vector<double>;

TEST(Stats, MedianOfAnEvenCountIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Values{5, 1, 3}), 3);
  EXPECT_EQ(median(Values{7}), 7);
  EXPECT_THROW(median(Values{}), InternalError);
}

// E[x²] - mean² gives 0 here; two passes give sqrt(((-1)² + 0 + 1²)/2) = 1.
TEST(Stats, DeviationDoesNotCancelForLargeValues) {
  EXPECT_DOUBLE_EQ(standard_deviation(Values{1e8 - 1, 1e8, 1e8 + 1}), 1.0);
  EXPECT_EQ(standard_deviation(Values{3}), 0);
}

TEST(Stats, QuantileInterpolates) {
  EXPECT_EQ(quantile(Values{10, 20, 30, 40, 50}, 0.25), 20);
  EXPECT_EQ(quantile(Values{10, 20}, 1.0), 20);
  EXPECT_EQ(quantile(Values{10, 20}, 0.5), 15);
}

// Wilson for 8 of 10: centre (0.8 + 0.19207)/1.38415 = 0.71674, half 0.22665 (Brown, Cai, DasGupta 2001, eq. 4).
TEST(Stats, BinomialIntervalIsWilsons) {
  const Interval interval = binomial_interval(8, 10);
  EXPECT_NEAR(interval.low, 0.4902, 1e-4);
  EXPECT_NEAR(interval.high, 0.9433, 1e-4);
  EXPECT_EQ(binomial_interval(0, 0).high, 1);
  EXPECT_EQ(binomial_interval(0, 10).low, 0);
}

TEST(Stats, BootstrapIntervalHoldsTheRatioAndIsReproducible) {
  const Values a{2.0, 2.1, 1.9, 2.05, 1.95};
  const Values b{1.0, 1.02, 0.98, 1.01, 0.99};
  const Interval interval = bootstrap_ratio_interval(a, b);
  EXPECT_LT(interval.low, 2.0);
  EXPECT_GT(interval.high, 2.0);
  EXPECT_GT(interval.low, 1.8);
  EXPECT_EQ(bootstrap_ratio_interval(a, b).low, interval.low);
}

// Binomial(n, 1/2): of 20 values at most 5 lie below the median with 2.07 %, at most 6 with 5.8 %; so the 6th to the
// 15th. Of 6 all lie above with 1.6 %; of 5 with 3.1 %, which is too much, and the whole range is all there is.
TEST(Stats, MedianIntervalIsThatOfTheOrderStatistics) {
  Values values;
  for (int i = 1; i <= 20; ++i) values.push_back((i * 7) % 23);  // any order
  std::vector<double> ordered = values;
  std::sort(ordered.begin(), ordered.end());
  EXPECT_EQ(median_interval(values).low, ordered[5]);
  EXPECT_EQ(median_interval(values).high, ordered[14]);
  EXPECT_EQ(median_interval(Values{6, 1, 5, 2, 4, 3}).low, 1);
  EXPECT_EQ(median_interval(Values{6, 1, 5, 2, 4, 3}).high, 6);
  EXPECT_EQ(median_interval(Values{3, 1, 2, 9, 4}).high, 9);
  EXPECT_EQ(median_interval(Values{4}).low, 4);
}

// Beyond 1,000 values by the normal approximation: 5,000 ± 0.98·sqrt(10,000) = ranks 4,902 and 5,099 (from 1).
TEST(Stats, MedianIntervalOfManyValues) {
  Values values;
  for (int i = 1; i <= 10000; ++i) values.push_back(i);
  EXPECT_EQ(median_interval(values).low, 4902);
  EXPECT_EQ(median_interval(values).high, 5099);
}

// t(4, 97.5 %) = 2.776; values 1..5: mean 3, sd sqrt(2.5), half width 2.776·1.5811/2.2361 = 1.9629.
TEST(Stats, MeanIntervalIsStudents) {
  const Interval interval = mean_interval(Values{1, 2, 3, 4, 5});
  EXPECT_NEAR(interval.high - 3, 1.9629, 1e-3);
  EXPECT_NEAR(3 - interval.low, 1.9629, 1e-3);
}

}  // namespace
}  // namespace eflops::stats
