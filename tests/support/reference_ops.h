#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "base/bfloat16.h"
#include "base/random.h"
#include "kernels/dropout.h"
#include "kernels/gelu.h"
#include "kernels/optimizer.h"

/// The operations of a Transformer as plain loops in double, to compare fast code with. Matrices are row-major vectors;
/// their number of columns is given, the number of rows follows. tests/kernels checks every gradient here by finite
/// differences.
namespace eflops::reference {

using Values = std::vector<double>;
using Ids = std::vector<std::int32_t>;

template <typename T>
Values to_double(const std::vector<T>& x) {
  Values result;
  for (const T value : x) result.push_back(static_cast<double>(to_float(value)));
  return result;
}

// ---- linear

/// y[r, o] = sum_i x[r, i] weight[o, i] + bias[o]; weight is outputs x inputs, bias may be empty.
inline Values linear(const Values& x, const Values& weight, const Values& bias, std::size_t inputs) {
  const std::size_t rows = x.size() / inputs;
  const std::size_t outputs = weight.size() / inputs;
  Values y(rows * outputs);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t o = 0; o < outputs; ++o) {
      double sum = bias.empty() ? 0.0 : bias[o];
      for (std::size_t i = 0; i < inputs; ++i) sum += x[r * inputs + i] * weight[o * inputs + i];
      y[r * outputs + o] = sum;
    }
  }
  return y;
}

struct LinearGradients {
  Values d_x, d_weight, d_bias;
};

inline LinearGradients linear_backward(const Values& d_y, const Values& x, const Values& weight, std::size_t inputs) {
  const std::size_t rows = x.size() / inputs;
  const std::size_t outputs = weight.size() / inputs;
  LinearGradients g{Values(x.size()), Values(weight.size()), Values(outputs)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t o = 0; o < outputs; ++o) {
      const double d = d_y[r * outputs + o];
      g.d_bias[o] += d;
      for (std::size_t i = 0; i < inputs; ++i) {
        g.d_x[r * inputs + i] += d * weight[o * inputs + i];
        g.d_weight[o * inputs + i] += d * x[r * inputs + i];
      }
    }
  }
  return g;
}

/// Sum over rows of each column.
inline Values column_sums(const Values& x, std::size_t columns) {
  Values sums(columns);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i % columns] += x[i];
  return sums;
}

/// x[r, c] + bias[c]
inline Values add_bias(const Values& x, const Values& bias) {
  Values y = x;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
  return y;
}

// ---- activations

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
inline double normal_pdf(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi); }

inline double gelu(double x, kernels::Gelu kind) {
  if (kind == kernels::Gelu::Erf) return x * normal_cdf(x);
  const double w = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(w));
}

/// d gelu / dx
inline double gelu_slope(double x, kernels::Gelu kind) {
  if (kind == kernels::Gelu::Erf) return normal_cdf(x) + x * normal_pdf(x);
  const double root = std::sqrt(2.0 / std::numbers::pi);
  const double t = std::tanh(root * (x + 0.044715 * x * x * x));
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * root * (1.0 + 3.0 * 0.044715 * x * x);
}

inline Values gelu(const Values& x, kernels::Gelu kind) {
  Values y;
  for (const double value : x) y.push_back(gelu(value, kind));
  return y;
}

inline Values gelu_backward(const Values& x, const Values& d_y, kernels::Gelu kind) {
  Values d_x;
  for (std::size_t i = 0; i < x.size(); ++i) d_x.push_back(d_y[i] * gelu_slope(x[i], kind));
  return d_x;
}

inline Values tanh(const Values& x) {
  Values y;
  for (const double value : x) y.push_back(std::tanh(value));
  return y;
}

inline Values tanh_backward(const Values& y, const Values& d_y) {
  Values d_x;
  for (std::size_t i = 0; i < y.size(); ++i) d_x.push_back(d_y[i] * (1.0 - y[i] * y[i]));
  return d_x;
}

// ---- layer normalisation

struct LayerNorm {
  Values y, mean, rstd;
};

inline LayerNorm layer_norm(const Values& x, const Values& gamma, const Values& beta, double epsilon) {
  const std::size_t columns = gamma.size();
  LayerNorm result{Values(x.size()), {}, {}};
  for (std::size_t first = 0; first < x.size(); first += columns) {
    double mean = 0.0;
    double variance = 0.0;
    for (std::size_t c = 0; c < columns; ++c) mean += x[first + c] / static_cast<double>(columns);
    for (std::size_t c = 0; c < columns; ++c) {
      variance += (x[first + c] - mean) * (x[first + c] - mean) / static_cast<double>(columns);
    }
    const double rstd = 1.0 / std::sqrt(variance + epsilon);
    for (std::size_t c = 0; c < columns; ++c) result.y[first + c] = (x[first + c] - mean) * rstd * gamma[c] + beta[c];
    result.mean.push_back(mean);
    result.rstd.push_back(rstd);
  }
  return result;
}

struct LayerNormGradients {
  Values d_x, d_gamma, d_beta;
};

inline LayerNormGradients layer_norm_backward(const Values& d_y, const Values& x, const Values& gamma, double epsilon) {
  const std::size_t columns = gamma.size();
  const auto n = static_cast<double>(columns);
  const LayerNorm forward = layer_norm(x, gamma, Values(columns), epsilon);
  LayerNormGradients g{Values(x.size()), Values(columns), Values(columns)};
  for (std::size_t row = 0; row < forward.mean.size(); ++row) {
    const auto unit = [&](std::size_t c) { return (x[row * columns + c] - forward.mean[row]) * forward.rstd[row]; };
    const auto d_unit = [&](std::size_t c) { return d_y[row * columns + c] * gamma[c]; };
    double mean_d = 0.0;
    double mean_d_unit = 0.0;
    for (std::size_t c = 0; c < columns; ++c) {
      mean_d += d_unit(c) / n;
      mean_d_unit += d_unit(c) * unit(c) / n;
      g.d_gamma[c] += d_y[row * columns + c] * unit(c);
      g.d_beta[c] += d_y[row * columns + c];
    }
    for (std::size_t c = 0; c < columns; ++c) {
      g.d_x[row * columns + c] = forward.rstd[row] * (d_unit(c) - mean_d - unit(c) * mean_d_unit);
    }
  }
  return g;
}

// ---- dropout

/// The rule of kernels/dropout.h, spelled out.
inline bool kept(const kernels::Dropout& dropout, std::int64_t row, std::int64_t column) {
  const std::uint64_t key = dropout.row_keys[row];
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const auto counter = static_cast<std::uint32_t>(8 * (column / 64) + column % 8);
  const auto words = philox({counter, 0, low(dropout.salt), high(dropout.salt)}, {low(key), high(key)});
  const auto half = static_cast<std::size_t>(column % 64 / 8);
  const std::uint32_t draw = words[half / 2] >> (16 * (half % 2)) & 0xFFFFU;
  return static_cast<double>(draw) >= std::nearbyint(static_cast<double>(dropout.probability) * 65536.0);
}

/// x through the mask; its backward is the same operation.
inline Values dropout(const Values& x, std::size_t columns, const kernels::Dropout& dropout) {
  if (dropout.probability == 0.0F) return x;
  Values y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool keep = kept(dropout, static_cast<std::int64_t>(i / columns), static_cast<std::int64_t>(i % columns));
    y[i] = keep ? x[i] / (1.0 - static_cast<double>(dropout.probability)) : 0.0;
  }
  return y;
}

// ---- softmax and loss

struct Softmax {
  Values y, log_sum_exp;
};

/// softmax(scale x) of each row; a row of nothing but -Inf becomes zeros.
inline Softmax softmax(const Values& x, std::size_t columns, double scale) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Softmax result{Values(x.size()), {}};
  for (std::size_t first = 0; first < x.size(); first += columns) {
    double largest = -kInfinity;
    for (std::size_t c = 0; c < columns; ++c) largest = std::fmax(largest, scale * x[first + c]);
    double sum = 0.0;
    for (std::size_t c = 0; c < columns; ++c) sum += std::exp(scale * x[first + c] - largest);
    const bool masked = largest == -kInfinity;
    for (std::size_t c = 0; c < columns; ++c) {
      result.y[first + c] = masked ? 0.0 : std::exp(scale * x[first + c] - largest) / sum;
    }
    result.log_sum_exp.push_back(masked ? -kInfinity : largest + std::log(sum));
  }
  return result;
}

inline Values softmax_backward(const Values& y, const Values& d_y, std::size_t columns, double scale) {
  Values d_x(y.size());
  for (std::size_t first = 0; first < y.size(); first += columns) {
    double dot = 0.0;
    for (std::size_t c = 0; c < columns; ++c) dot += y[first + c] * d_y[first + c];
    for (std::size_t c = 0; c < columns; ++c) d_x[first + c] = scale * y[first + c] * (d_y[first + c] - dot);
  }
  return d_x;
}

struct CrossEntropy {
  double total = 0.0;
  Values loss;      // a row each
  Values d_logits;  // of total * gradient_scale
};

/// -log softmax(logits)[label] of each row; label -100 gives no loss and no gradient.
inline CrossEntropy cross_entropy(const Values& logits, std::size_t columns, const Ids& labels,
                                  double gradient_scale = 1.0) {
  const Softmax soft = softmax(logits, columns, 1.0);
  CrossEntropy result{0.0, Values(labels.size()), Values(logits.size())};
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] == -100) continue;
    const auto label = static_cast<std::size_t>(labels[row]);
    result.loss[row] = soft.log_sum_exp[row] - logits[row * columns + label];
    result.total += result.loss[row];
    for (std::size_t c = 0; c < columns; ++c) {
      const double onehot = c == label ? 1.0 : 0.0;
      result.d_logits[row * columns + c] = (soft.y[row * columns + c] - onehot) * gradient_scale;
    }
  }
  return result;
}

// ---- embeddings

/// table[ids[i], :] for each i.
inline Values lookup(const Values& table, const Ids& ids, std::size_t columns) {
  Values out;
  for (const std::int32_t id : ids) {
    const auto row = table.begin() + static_cast<std::ptrdiff_t>(id) * static_cast<std::ptrdiff_t>(columns);
    out.insert(out.end(), row, row + static_cast<std::ptrdiff_t>(columns));
  }
  return out;
}

/// d_table[ids[i], :] += d_y[i, :]
inline void lookup_backward(const Values& d_y, const Ids& ids, std::size_t columns, Values& d_table) {
  for (std::size_t i = 0; i < d_y.size(); ++i) {
    d_table[static_cast<std::size_t>(ids[i / columns]) * columns + i % columns] += d_y[i];
  }
}

// ---- optimisers

struct AdamState {
  double value = 0.0;
  double m = 0.0;
  double v = 0.0;
};

/// Moves m and v of one element and returns its direction: (m / c1) / (sqrt(v / c2) + epsilon) + weight_decay * value.
inline double adam_direction(AdamState& state, double gradient, const kernels::AdamStep& step) {
  const double g = gradient * static_cast<double>(step.gradient_scale);
  const auto beta1 = static_cast<double>(step.beta1);
  const auto beta2 = static_cast<double>(step.beta2);
  state.m = beta1 * state.m + (1.0 - beta1) * g;
  state.v = beta2 * state.v + (1.0 - beta2) * g * g;
  const double root = std::sqrt(state.v / static_cast<double>(step.bias_correction2));
  return state.m / static_cast<double>(step.bias_correction1) / (root + static_cast<double>(step.epsilon)) +
         static_cast<double>(step.weight_decay) * state.value;
}

inline double sum_of_squares(const Values& x) {
  double sum = 0.0;
  for (const double value : x) sum += value * value;
  return sum;
}

}  // namespace eflops::reference
