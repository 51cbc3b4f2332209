#include "kernels/gelu.h"

#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gelu.cpp"
#include "hwy/foreach_target.h"
#include "kernels/math.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

struct ErfForm {
  static HWY_INLINE Vector value(Vector x) { return hn::Mul(x, normal(x).cdf); }
  /// d/dx x cdf(x) = cdf(x) + x pdf(x)
  static HWY_INLINE Vector slope(Vector x) {
    const Normal n = normal(x);
    return hn::MulAdd(x, n.pdf, n.cdf);
  }
};

/// x/2 (1 + tanh(w)) = x sigmoid(2w), w = sqrt(2/pi) (x + 0.044715 x^3).
struct TanhForm {
  static constexpr float kTwoRoot = 1.5957691216F;  // 2 sqrt(2/pi)
  static constexpr float kCubic = 0.0713548163F;    // 0.044715 * 2 sqrt(2/pi)

  static HWY_INLINE Vector gate(Vector x, Vector square) {
    return sigmoid(hn::Mul(x, hn::MulAdd(square, broadcast(kCubic), broadcast(kTwoRoot))));
  }
  static HWY_INLINE Vector value(Vector x) { return hn::Mul(x, gate(x, hn::Mul(x, x))); }
  /// With s = sigmoid(2w): s + x s (1 - s) d(2w)/dx. Beyond |x| = 12, s (1 - s) is zero; the bound keeps 0 * Inf away.
  static HWY_INLINE Vector slope(Vector x) {
    const Vector bounded = hn::IfThenElse(hn::Gt(hn::Abs(x), broadcast(12.0F)), hn::CopySign(broadcast(12.0F), x), x);
    const Vector square = hn::Mul(bounded, bounded);
    const Vector s = gate(bounded, square);
    const Vector inner = hn::MulAdd(square, broadcast(3.0F * kCubic), broadcast(kTwoRoot));
    return hn::MulAdd(hn::Mul(bounded, inner), hn::Mul(s, hn::Sub(broadcast(1.0F), s)), s);
  }
};

template <typename Form, typename T>
void forward_row(const T* x, const float* bias, T* y, std::int64_t n) {
  if (bias == nullptr) {
    for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR { store(part, Form::value(load(part, x + i)), y + i); });
    return;
  }
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    store(part, Form::value(hn::Add(load(part, x + i), load(part, bias + i))), y + i);
  });
}

/// One row of backward; `row` holds the pointers of that row.
template <typename Form, typename T>
void backward_row(BiasGeluBackward<T> row, std::int64_t n) {
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    Vector x = load(part, row.x + i);
    if (row.bias != nullptr) x = hn::Add(x, load(part, row.bias + i));
    const Vector d_x = hn::Mul(load(part, row.d_y + i), Form::slope(x));
    store(part, d_x, row.d_x + i);
    if (row.d_bias != nullptr) store(part, hn::Add(load(part, row.d_bias + i), d_x), row.d_bias + i);
  });
}

template <typename T>
void forward(const T* x, const float* bias, T* y, std::int64_t n, Gelu kind) {
  kind == Gelu::Erf ? forward_row<ErfForm>(x, bias, y, n) : forward_row<TanhForm>(x, bias, y, n);
}
template <typename T>
void backward(const BiasGeluBackward<T>& row, std::int64_t n, Gelu kind) {
  kind == Gelu::Erf ? backward_row<ErfForm>(row, n) : backward_row<TanhForm>(row, n);
}

void gelu_f32(const float* x, const float* bias, float* y, std::int64_t n, Gelu kind) { forward(x, bias, y, n, kind); }
void gelu_bf16(const bf16* x, const float* bias, bf16* y, std::int64_t n, Gelu kind) { forward(x, bias, y, n, kind); }
void d_gelu_f32(const BiasGeluBackward<float>& row, std::int64_t n, Gelu kind) { backward(row, n, kind); }
void d_gelu_bf16(const BiasGeluBackward<bf16>& row, std::int64_t n, Gelu kind) { backward(row, n, kind); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(gelu_f32);
HWY_EXPORT(gelu_bf16);
HWY_EXPORT(d_gelu_f32);
HWY_EXPORT(d_gelu_bf16);

template <typename T>
void gelu_forward(const T* x, T* y, std::int64_t n, Gelu kind) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    EFLOPS_KERNELS_DISPATCH(T, gelu, x + begin, nullptr, y + begin, end - begin, kind);
  });
}

template <typename T>
void gelu_backward(const T* x, const T* d_y, T* d_x, std::int64_t n, Gelu kind) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    const BiasGeluBackward<T> range{.x = x + begin, .d_y = d_y + begin, .d_x = d_x + begin};
    EFLOPS_KERNELS_DISPATCH(T, d_gelu, range, end - begin, kind);
  });
}

template <typename T>
void bias_gelu_forward(const T* x, const float* bias, T* y, MatrixShape shape, Gelu kind) {
  parallel_for(shape.rows, row_grain(shape.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * shape.row_stride();
      EFLOPS_KERNELS_DISPATCH(T, gelu, x + at, bias, y + at, shape.columns, kind);
    }
  });
}

template <typename T>
void bias_gelu_backward(const BiasGeluBackward<T>& buffers, MatrixShape shape, Gelu kind) {
  const auto rows = [&](std::int64_t begin, std::int64_t end, float* d_bias) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * shape.row_stride();
      const BiasGeluBackward<T> range{.x = buffers.x + at,
                                      .bias = buffers.bias,
                                      .d_y = buffers.d_y + at,
                                      .d_x = buffers.d_x + at,
                                      .d_bias = d_bias};
      EFLOPS_KERNELS_DISPATCH(T, d_gelu, range, shape.columns, kind);
    }
  };
  if (buffers.d_bias == nullptr) {
    parallel_for(shape.rows, row_grain(shape.columns),
                 [&](std::int64_t begin, std::int64_t end) { rows(begin, end, nullptr); });
    return;
  }
  RowBlockSums blocks(shape.rows, shape.columns);
  blocks.for_each_block(rows);
  blocks.add_to(buffers.d_bias, 0, shape.columns);
}

template void gelu_forward(const float*, float*, std::int64_t, Gelu);
template void gelu_forward(const bf16*, bf16*, std::int64_t, Gelu);
template void gelu_backward(const float*, const float*, float*, std::int64_t, Gelu);
template void gelu_backward(const bf16*, const bf16*, bf16*, std::int64_t, Gelu);
template void bias_gelu_forward(const float*, const float*, float*, MatrixShape, Gelu);
template void bias_gelu_forward(const bf16*, const float*, bf16*, MatrixShape, Gelu);
template void bias_gelu_backward(const BiasGeluBackward<float>&, MatrixShape, Gelu);
template void bias_gelu_backward(const BiasGeluBackward<bf16>&, MatrixShape, Gelu);

}  // namespace eflops::kernels
#endif
