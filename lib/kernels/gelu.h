#pragma once

#include <cstdint>

#include "base/bfloat16.h"
#include "kernels/shape.h"

namespace eflops::kernels {

/// Gaussian error linear unit (Hendrycks and Gimpel, arXiv:1606.08415).
enum class Gelu {
  Erf,   ///< x/2 (1 + erf(x/sqrt 2))
  Tanh,  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Google BERT's form
};

// T is float or bf16. Absolute error below 1e-6 max(1, |x|) in float. NaN and +Inf pass through. Outputs may be the
// very inputs (d_x may be d_y or x).

/// y[i] = gelu(x[i]).
template <typename T>
void gelu_forward(const T* x, T* y, std::int64_t n, Gelu kind);

/// d_x[i] = d_y[i] gelu'(x[i]).
template <typename T>
void gelu_backward(const T* x, const T* d_y, T* d_x, std::int64_t n, Gelu kind);

/// y[r, c] = gelu(x[r, c] + bias[c]); x is kept without the bias. All rows have stride `shape.row_stride()`.
template <typename T>
void bias_gelu_forward(const T* x, const float* bias, T* y, MatrixShape shape, Gelu kind);

/// d_x[r, c] = d_y[r, c] gelu'(x[r, c] + bias[c]), and d_bias[c] += sum over r of d_x[r, c] before it is rounded to T
/// (blocks of 32 rows, added in row order). bias may be null (x already holds it), and so may d_bias.
template <typename T>
struct BiasGeluBackward {
  const T* x = nullptr;
  const float* bias = nullptr;
  const T* d_y = nullptr;
  T* d_x = nullptr;
  float* d_bias = nullptr;
};
template <typename T>
void bias_gelu_backward(const BiasGeluBackward<T>& buffers, MatrixShape shape, Gelu kind);

}  // namespace eflops::kernels
