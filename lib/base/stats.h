#pragma once

#include <cstdint>
#include <span>

namespace eflops::stats {

double mean(std::span<const double> values);
/// Two-pass sample standard deviation (n - 1); 0 for one value.
double standard_deviation(std::span<const double> values);
/// The mean of the two middle values for an even count. Empty input is an InternalError.
double median(std::span<const double> values);
/// Linear interpolation between order statistics (type 7); q in [0, 1].
double quantile(std::span<const double> values, double q);

struct Interval {
  double low = 0;
  double high = 0;
};

/// Wilson score interval of a proportion at 95 %; [0, 1] when trials is 0.
Interval binomial_interval(std::int64_t successes, std::int64_t trials);

/// 95 % percentile bootstrap interval of median(a) / median(b) over launches (DESIGN 5), 10,000 resamples,
/// counter-based draws so that the same samples give the same interval.
Interval bootstrap_ratio_interval(std::span<const double> a, std::span<const double> b, std::uint64_t seed = 1);

/// 95 % interval of the median between two order statistics, from the binomial distribution alone: nothing is assumed
/// of the values. The whole range for fewer than 6 values, which cannot give 95 %.
Interval median_interval(std::span<const double> values);

/// Two-sided 95 % Student t interval of the mean; [mean, mean] for one value.
Interval mean_interval(std::span<const double> values);

}  // namespace eflops::stats
