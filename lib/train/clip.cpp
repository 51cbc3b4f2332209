#include "train/clip.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "kernels/norm.h"

namespace eflops::train {
namespace {

/// The parameter whose elements, or the gap behind them, hold element `at` of the flat buffer.
const std::string& parameter_at(const nn::ParameterStore& parameters, std::int64_t at) {
  const std::vector<nn::Parameter>& all = parameters.parameters();
  const auto next = std::ranges::upper_bound(all, at, {}, &nn::Parameter::offset);
  return std::prev(next)->name;
}

}  // namespace

GradientReport measure_gradients(const nn::ParameterStore& parameters, std::span<const float> gradients) {
  EFLOPS_CHECK(std::ssize(gradients) == parameters.size(), "{} gradients for {} parameters", gradients.size(),
               parameters.size());
  GradientReport report{.norm = std::sqrt(kernels::sum_of_squares(gradients.data(), std::ssize(gradients)))};
  // Squares of finite floats cannot overflow a double, so a norm that is not finite means an element that is not.
  if (!std::isfinite(report.norm))
    report.nonfinite = parameter_at(parameters, kernels::first_nonfinite(gradients.data(), std::ssize(gradients)));
  return report;
}

double clip_scale(double norm, double max_norm) { return norm > max_norm ? max_norm / norm : 1.0; }

}  // namespace eflops::train
