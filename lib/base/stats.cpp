#include "base/stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace eflops::stats {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double median_of_sorted(std::span<const double> values) {
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double quantile_of_sorted(std::span<const double> values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

// Two-sided 95 % Student t quantiles for 1 ... 30 degrees of freedom; 1.96 beyond is within 2 % from 31 on.
constexpr double kStudent[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                               2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double resampled_median(std::span<const double> values, Random& random, std::vector<double>& scratch) {
  scratch.resize(values.size());
  for (double& value : scratch) value = values[random.below(values.size())];
  std::sort(scratch.begin(), scratch.end());
  return median_of_sorted(scratch);
}

}  // namespace

double mean(std::span<const double> values) {
  EFLOPS_CHECK(!values.empty(), "mean of nothing");
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double median(std::span<const double> values) {
  EFLOPS_CHECK(!values.empty(), "median of nothing");
  return median_of_sorted(sorted(values));
}

double quantile(std::span<const double> values, double q) {
  EFLOPS_CHECK(!values.empty() && q >= 0 && q <= 1, "quantile {} of {} values", q, values.size());
  return quantile_of_sorted(sorted(values), q);
}

Interval binomial_interval(std::int64_t successes, std::int64_t trials) {
  if (trials == 0) return {0, 1};
  constexpr double z = 1.959963984540054;
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

Interval bootstrap_ratio_interval(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  EFLOPS_CHECK(!a.empty() && !b.empty(), "bootstrap of nothing");
  constexpr int kResamples = 10000;
  Random random(seed, Purpose::Bootstrap);
  std::vector<double> ratios;
  std::vector<double> scratch;
  ratios.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    const double numerator = resampled_median(a, random, scratch);
    ratios.push_back(numerator / resampled_median(b, random, scratch));
  }
  std::sort(ratios.begin(), ratios.end());
  return {quantile_of_sorted(ratios, 0.025), quantile_of_sorted(ratios, 0.975)};
}

Interval median_interval(std::span<const double> values) {
  EFLOPS_CHECK(!values.empty(), "median interval of nothing");
  const std::vector<double> ordered = sorted(values);
  const auto n = static_cast<double>(ordered.size());
  // The largest k for which fewer than k of n values below the median have a chance of at most 2.5 %: then the median
  // lies between the k-th and the k-th last value with 95 %.
  double chance = std::exp2(-n);  // of exactly `below` values below it
  double sum = 0;
  std::size_t k = 0;
  for (double below = 0; below < n / 2; ++below) {
    sum += chance;
    if (sum > 0.025) break;
    ++k;
    chance *= (n - below) / (below + 1);
  }
  if (n > 1000) {  // 2^-n is no double any more; the normal approximation is exact enough
    k = static_cast<std::size_t>(std::floor(n / 2 - 0.98 * std::sqrt(n)));
  }
  if (k == 0) return {ordered.front(), ordered.back()};
  return {ordered[k - 1], ordered[ordered.size() - k]};
}

Interval mean_interval(std::span<const double> values) {
  const double centre = mean(values);
  if (values.size() < 2) return {centre, centre};
  const std::size_t freedom = values.size() - 1;
  const double t = freedom <= std::size(kStudent) ? kStudent[freedom - 1] : 1.96;
  const double half = t * standard_deviation(values) / std::sqrt(static_cast<double>(values.size()));
  return {centre - half, centre + half};
}

}  // namespace eflops::stats
