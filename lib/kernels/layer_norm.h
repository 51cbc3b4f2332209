#pragma once

#include <cstdint>

#include "base/bfloat16.h"
#include "kernels/dropout.h"

namespace eflops::kernels {

// Layer normalisation over the last dimension (Ba, Kiros, Hinton, arXiv:1607.06450), T = float or bf16, rows x columns
// without gaps: y = (x - mean) rstd gamma + beta, rstd = 1 / sqrt(variance + epsilon), biased variance, in two passes.
// Parameters and their gradients are float [columns]; statistics are float [rows]. Parameter gradients are added to
// what is there: blocks of 32 rows are summed in float, then the blocks in row order.

template <typename T>
struct LayerNormForward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const T* x = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float epsilon = 1e-12F;
  T* y = nullptr;         ///< may be x where no backward follows
  float* mean = nullptr;  ///< [rows]; null if not wanted
  float* rstd = nullptr;  ///< [rows]; null if not wanted
};
template <typename T>
void layer_norm_forward(const LayerNormForward<T>& op);

template <typename T>
struct LayerNormBackward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const T* d_y = nullptr;
  const T* x = nullptr;  ///< the input of forward
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* rstd = nullptr;
  T* d_x = nullptr;          ///< may be d_y
  float* d_gamma = nullptr;  ///< [columns], added to
  float* d_beta = nullptr;   ///< [columns], added to
};
template <typename T>
void layer_norm_backward(const LayerNormBackward<T>& op);

/// How a Transformer block ends: z = residual + dropout(gemm_out + bias), y = LN(z). z is kept for backward.
template <typename T>
struct DropoutResidualLayerNormForward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const T* gemm_out = nullptr;
  const float* bias = nullptr;  ///< [columns]; null if gemm_out holds it already
  const T* residual = nullptr;
  Dropout dropout = {};
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float epsilon = 1e-12F;
  T* z = nullptr;         ///< may be gemm_out
  T* y = nullptr;         ///< must not be z or residual
  float* mean = nullptr;  ///< [rows]
  float* rstd = nullptr;  ///< [rows]
};
template <typename T>
void dropout_residual_layer_norm_forward(const DropoutResidualLayerNormForward<T>& op);

template <typename T>
struct DropoutResidualLayerNormBackward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const T* d_y = nullptr;
  const T* z = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* rstd = nullptr;
  Dropout dropout = {};      ///< as in forward
  T* d_residual = nullptr;   ///< the gradient of z; may be d_y
  T* d_gemm_out = nullptr;   ///< d_residual through the mask; with probability 0 it may be d_residual
  float* d_gamma = nullptr;  ///< [columns], added to
  float* d_beta = nullptr;   ///< [columns], added to
  float* d_bias = nullptr;   ///< [columns], added to: column sums of d_gemm_out; null if not wanted
};
template <typename T>
void dropout_residual_layer_norm_backward(const DropoutResidualLayerNormBackward<T>& op);

}  // namespace eflops::kernels
