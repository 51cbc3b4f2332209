#include "kernels/cross_entropy.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cross_entropy.cpp"
#include "hwy/foreach_target.h"
#include "kernels/math.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

/// Index of the first element equal to `largest`; of the first NaN if it is NaN.
std::int64_t first_equal(const float* x, std::int64_t n, float largest) {
  const Vector wanted = broadcast(largest);
  const bool is_nan = largest != largest;
  const std::int64_t step = lanes();
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    const Vector v = load(Whole{}, x + i);
    const auto found = is_nan ? hn::IsNaN(v) : hn::Eq(v, wanted);
    if (!hn::AllFalse(Tag(), found)) return i + hn::FindFirstTrue(Tag(), found);
  }
  while (i < n && (is_nan ? x[i] == x[i] : x[i] != largest)) ++i;
  return i;
}

/// sum(exp(x - largest)) in double over blocks of 1024 terms summed in float; keeps the terms in `terms` unless it is
/// null.
double sum_of_exponentials(const float* x, std::int64_t n, float largest, float* terms) {
  constexpr std::int64_t kBlock = 1024;
  const Vector shift = broadcast(largest);
  double sum = 0.0;
  for (std::int64_t first = 0; first < n; first += kBlock) {
    sum += sum_over(std::min(kBlock, n - first), [&](auto part, std::int64_t i) HWY_ATTR {
      const Vector e = exp_nonpositive(hn::Sub(load(part, x + first + i), shift));
      if (terms != nullptr) store(part, e, terms + first + i);
      return e;
    });
  }
  return sum;
}

/// What one row gave: the loss, and the sum of exp(x - max) unless the label is ignored.
struct RowLoss {
  double loss;
  double sum;
};

HWY_INLINE RowLoss row_loss(const float* x, float* terms, std::int64_t n, std::int32_t label, std::int32_t* argmax) {
  const float largest = max_over(n, [&](auto part, std::int64_t i) HWY_ATTR { return load(part, x + i); });
  *argmax = static_cast<std::int32_t>(first_equal(x, n, largest));
  if (label == kIgnoredLabel) return {.loss = 0.0, .sum = 0.0};
  const double target = x[label];
  const double sum = sum_of_exponentials(x, n, largest, terms);
  return {.loss = std::log(sum) + static_cast<double>(largest) - target, .sum = sum};
}

double loss_only(const float* x, std::int64_t n, std::int32_t label, std::int32_t* argmax) {
  return row_loss(x, nullptr, n, label, argmax).loss;
}

/// Also turns x into (softmax(x) - onehot(label)) * scale.
double loss_and_gradient(float* x, std::int64_t n, std::int32_t label, float scale, std::int32_t* argmax) {
  const RowLoss result = row_loss(x, x, n, label, argmax);
  if (label == kIgnoredLabel) {
    std::fill_n(x, n, 0.0F);
    return result.loss;
  }
  const auto inverse = static_cast<float>(1.0 / result.sum);
  const float of_label = (x[label] * inverse - 1.0F) * scale;
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    store(part, hn::Mul(hn::Mul(load(part, x + i), broadcast(inverse)), broadcast(scale)), x + i);
  });
  x[label] = of_label;
  return result.loss;
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {
namespace {

HWY_EXPORT(loss_only);
HWY_EXPORT(loss_and_gradient);

/// Runs row_kernel(row, argmax) -> loss on every row in parallel and sums in row order.
template <typename RowKernel>
CrossEntropyTotals over_rows(MatrixShape shape, const std::int32_t* labels, const CrossEntropyRows& rows,
                             const RowKernel& row_kernel) {
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const bool valid = labels[row] == kIgnoredLabel || (labels[row] >= 0 && labels[row] < shape.columns);
    EFLOPS_CHECK(valid, "label {} of row {} is outside [0, {})", labels[row], row, shape.columns);
  }
  std::vector<double> losses(static_cast<std::size_t>(shape.rows));
  std::vector<std::int32_t> best(static_cast<std::size_t>(shape.rows));
  parallel_for(shape.rows, row_grain(shape.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto at = static_cast<std::size_t>(row);
      losses[at] = row_kernel(row, &best[at]);
    }
  });
  CrossEntropyTotals totals;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    if (rows.loss != nullptr) rows.loss[row] = losses[at];
    if (rows.argmax != nullptr) rows.argmax[row] = best[at];
    if (labels[row] == kIgnoredLabel) continue;
    totals.loss += losses[at];
    totals.counted += 1;
    totals.correct += best[at] == labels[row] ? 1 : 0;
  }
  return totals;
}

}  // namespace

CrossEntropyTotals cross_entropy(const float* logits, MatrixShape shape, const std::int32_t* labels,
                                 const CrossEntropyRows& rows) {
  return over_rows(shape, labels, rows, [&](std::int64_t row, std::int32_t* argmax) {
    return HWY_DYNAMIC_DISPATCH(loss_only)(logits + row * shape.row_stride(), shape.columns, labels[row], argmax);
  });
}

CrossEntropyTotals cross_entropy_with_gradient(float* logits, MatrixShape shape, const std::int32_t* labels,
                                               float gradient_scale, const CrossEntropyRows& rows) {
  return over_rows(shape, labels, rows, [&](std::int64_t row, std::int32_t* argmax) {
    float* x = logits + row * shape.row_stride();
    return HWY_DYNAMIC_DISPATCH(loss_and_gradient)(x, shape.columns, labels[row], gradient_scale, argmax);
  });
}

}  // namespace eflops::kernels
#endif
