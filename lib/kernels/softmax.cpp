#include "kernels/softmax.h"

#include <cmath>

#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
#include "hwy/foreach_target.h"
#include "kernels/math.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

/// Returns the log-sum-exp of the scaled row. float keeps exp(x - max) in the row between its passes; bf16 would lose
/// bits there, so it computes the exponentials again.
template <typename T>
float softmax_row(T* x, std::int64_t n, float scale) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr bool kExact = std::is_same_v<T, float>;
  const Vector factor = broadcast(scale);
  const float largest =
      max_over(n, [&](auto part, std::int64_t i) HWY_ATTR { return hn::Mul(load(part, x + i), factor); });
  if (largest == -kInfinity) {
    for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR { store(part, hn::Zero(Tag()), x + i); });
    return -kInfinity;
  }
  const Vector shift = broadcast(largest);
  const auto term = [&](auto part, std::int64_t i)
                        HWY_ATTR { return exp_nonpositive(hn::Sub(hn::Mul(load(part, x + i), factor), shift)); };
  const float sum = sum_over(n, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector e = term(part, i);
    if constexpr (kExact) store(part, e, x + i);
    return e;
  });
  const Vector inverse = broadcast(1.0F / sum);
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    if constexpr (kExact) {
      store(part, hn::Mul(load(part, x + i), inverse), x + i);
    } else {
      store(part, hn::Mul(term(part, i), inverse), x + i);
    }
  });
  return largest + std::log(sum);
}

template <typename T>
void softmax_backward_row(const T* y, const T* d_y, T* d_x, std::int64_t n, float scale) {
  const Vector dot = broadcast(
      sum_over(n, [&](auto part, std::int64_t i) HWY_ATTR { return hn::Mul(load(part, y + i), load(part, d_y + i)); }));
  const Vector factor = broadcast(scale);
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector weight = hn::Mul(load(part, y + i), factor);
    store(part, hn::Mul(weight, hn::Sub(load(part, d_y + i), dot)), d_x + i);
  });
}

void softmax_f32(float* x, std::int64_t n, float scale, float* log_sum_exp) { *log_sum_exp = softmax_row(x, n, scale); }
void softmax_bf16(bf16* x, std::int64_t n, float scale, float* log_sum_exp) { *log_sum_exp = softmax_row(x, n, scale); }
void d_softmax_f32(const float* y, const float* d_y, float* d_x, std::int64_t n, float scale) {
  softmax_backward_row(y, d_y, d_x, n, scale);
}
void d_softmax_bf16(const bf16* y, const bf16* d_y, bf16* d_x, std::int64_t n, float scale) {
  softmax_backward_row(y, d_y, d_x, n, scale);
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(softmax_f32);
HWY_EXPORT(softmax_bf16);
HWY_EXPORT(d_softmax_f32);
HWY_EXPORT(d_softmax_bf16);

template <typename T>
void softmax_forward(T* x, MatrixShape shape, float scale, float* log_sum_exp) {
  parallel_for(shape.rows, row_grain(shape.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float result = 0.0F;
      EFLOPS_KERNELS_DISPATCH(T, softmax, x + row * shape.row_stride(), shape.columns, scale, &result);
      if (log_sum_exp != nullptr) log_sum_exp[row] = result;
    }
  });
}

template <typename T>
void softmax_backward(const T* y, const T* d_y, T* d_x, MatrixShape shape, float scale) {
  parallel_for(shape.rows, row_grain(shape.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * shape.row_stride();
      EFLOPS_KERNELS_DISPATCH(T, d_softmax, y + at, d_y + at, d_x + at, shape.columns, scale);
    }
  });
}

template void softmax_forward(float*, MatrixShape, float, float*);
template void softmax_forward(bf16*, MatrixShape, float, float*);
template void softmax_backward(const float*, const float*, float*, MatrixShape, float);
template void softmax_backward(const bf16*, const bf16*, bf16*, MatrixShape, float);

}  // namespace eflops::kernels
#endif
