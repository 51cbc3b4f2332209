// One row of layer normalisation; toggling guard as in simd.inl.
#if defined(EFLOPS_KERNELS_LAYER_NORM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef EFLOPS_KERNELS_LAYER_NORM_INL
#undef EFLOPS_KERNELS_LAYER_NORM_INL
#else
#define EFLOPS_KERNELS_LAYER_NORM_INL
#endif

#include <cmath>

#include "kernels/layer_norm.h"
#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {

template <typename T>
HWY_INLINE void normalise_row(LayerNormForward<T> op, std::int64_t row) {
  const T* x = op.x + row * op.columns;
  T* y = op.y + row * op.columns;
  const double n = static_cast<double>(op.columns);
  const float sum = sum_over(op.columns, [&](auto part, std::int64_t i) HWY_ATTR { return load(part, x + i); });
  const auto mean = static_cast<float>(static_cast<double>(sum) / n);
  const Vector center = broadcast(mean);
  const float squares = sum_over(op.columns, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector difference = hn::Sub(load(part, x + i), center);
    return hn::Mul(difference, difference);
  });
  const double variance = static_cast<double>(squares) / n;
  const auto rstd = static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(op.epsilon)));
  const Vector factor = broadcast(rstd);
  for_each_vector(op.columns, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector unit = hn::Mul(hn::Sub(load(part, x + i), center), factor);
    store(part, hn::MulAdd(unit, load(part, op.gamma + i), load(part, op.beta + i)), y + i);
  });
  if (op.mean != nullptr) op.mean[row] = mean;
  if (op.rstd != nullptr) op.rstd[row] = rstd;
}

/// With u = (x - mean) rstd and g = d_y gamma: d_x = rstd (g - mean(g) - u mean(g u)); d_gamma += d_y u; d_beta += d_y,
/// into op.d_gamma and op.d_beta.
template <typename T>
HWY_INLINE void normalise_row_backward(LayerNormBackward<T> op, std::int64_t row) {
  const T* x = op.x + row * op.columns;
  const T* d_y = op.d_y + row * op.columns;
  T* d_x = op.d_x + row * op.columns;
  const Vector center = broadcast(op.mean[row]);
  const Vector factor = broadcast(op.rstd[row]);
  const Vector zero = hn::Zero(Tag());
  Vector sum = zero;
  Vector sum_u = zero;
  for_each_vector(op.columns, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector d = load(part, d_y + i);
    const Vector u = hn::Mul(hn::Sub(load(part, x + i), center), factor);
    const Vector g = hn::Mul(d, load(part, op.gamma + i));
    sum = hn::Add(sum, keep(part, g, zero));
    sum_u = hn::Add(sum_u, keep(part, hn::Mul(g, u), zero));
    store(part, hn::MulAdd(d, u, load(part, op.d_gamma + i)), op.d_gamma + i);
    store(part, hn::Add(load(part, op.d_beta + i), d), op.d_beta + i);
  });
  const auto n = static_cast<float>(op.columns);
  const Vector mean_g = broadcast(hn::GetLane(hn::SumOfLanes(Tag(), sum)) / n);
  const Vector mean_gu = broadcast(hn::GetLane(hn::SumOfLanes(Tag(), sum_u)) / n);
  for_each_vector(op.columns, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector u = hn::Mul(hn::Sub(load(part, x + i), center), factor);
    const Vector g = hn::Mul(load(part, d_y + i), load(part, op.gamma + i));
    store(part, hn::Mul(factor, hn::NegMulAdd(u, mean_gu, hn::Sub(g, mean_g))), d_x + i);
  });
}

}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
