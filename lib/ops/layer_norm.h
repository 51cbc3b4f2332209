#pragma once

#include <cstdint>

#include "kernels/dropout.h"
#include "tensor/tensor.h"

namespace eflops::ops {

using kernels::Dropout;

/// Scale and shift [H] of a layer normalisation, and what keeps its square root from zero.
struct NormParameters {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float epsilon = 1e-12F;
};
/// Where the gradients of gamma and beta are added.
struct NormGradients {
  float* gamma = nullptr;
  float* beta = nullptr;
};
/// Mean and 1/standard deviation of each row, f32 [T].
struct RowStatistics {
  tensor::Tensor mean;
  tensor::Tensor rstd;
};

/// y = LN(x), all [T, H] of one type; y may be x in evaluation.
void layer_norm_forward(const tensor::Tensor& x, const NormParameters& parameters, const tensor::Tensor& y,
                        const RowStatistics& statistics);
/// d_y becomes d_x in place.
void layer_norm_backward(const tensor::Tensor& d_y, const tensor::Tensor& x, const NormParameters& parameters,
                         const RowStatistics& statistics, const NormGradients& gradients);

/// The end of a Transformer block: z = residual + dropout(x + bias), where x becomes z in place, and y = LN(z).
struct ResidualNormForward {
  tensor::Tensor x;
  const float* bias = nullptr;
  tensor::Tensor residual;
  Dropout dropout;
  NormParameters norm;
  tensor::Tensor y;  ///< neither x nor residual
  RowStatistics statistics;
};
void residual_norm_forward(const ResidualNormForward& op);

struct ResidualNormBackward {
  tensor::Tensor d_y;  ///< becomes the gradient of residual, in place
  tensor::Tensor z;
  NormParameters norm;
  RowStatistics statistics;
  Dropout dropout;     ///< as in forward
  tensor::Tensor d_x;  ///< receives the gradient of x; may be d_y without dropout
  NormGradients gradients;
  float* d_bias = nullptr;
};
void residual_norm_backward(const ResidualNormBackward& op);

}  // namespace eflops::ops
