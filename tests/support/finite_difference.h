#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace eflops::reference {

/// Compares a gradient with central differences (f(x + h) - f(x - h)) / 2h, element by element, and returns the largest
/// |difference| / max(1, |gradient|). With h = 1e-5 and values near 1 a right gradient gives about 1e-9: h^2 of
/// truncation and 1e-16 / h of rounding.
inline double gradient_error(const std::function<double(const std::vector<double>&)>& f, std::vector<double> x,
                             const std::vector<double>& gradient, double h = 1e-5) {
  if (gradient.size() != x.size()) return INFINITY;
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + h;
    const double above = f(x);
    x[i] = at - h;
    const double below = f(x);
    x[i] = at;
    const double error = std::abs((above - below) / (2.0 * h) - gradient[i]) / std::max(1.0, std::abs(gradient[i]));
    if (!(error <= worst)) worst = error;  // NaN wins
  }
  return worst;
}

/// sum of a[i] * b[i]: turns an operation with many outputs into a function whose gradient is backward(weights).
inline double weighted_sum(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace eflops::reference
