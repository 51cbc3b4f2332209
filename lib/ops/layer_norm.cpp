#include "ops/layer_norm.h"

#include "kernels/layer_norm.h"

namespace eflops::ops {

using tensor::for_float_type;
using tensor::Tensor;

void layer_norm_forward(const Tensor& x, const NormParameters& parameters, const Tensor& y,
                        const RowStatistics& statistics) {
  EFLOPS_CHECK(x.shape() == y.shape(), "x {}, y {}", x.shape().to_string(), y.shape().to_string());
  for_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::layer_norm_forward(kernels::LayerNormForward<T>{.rows = x.rows(),
                                                             .columns = x.columns(),
                                                             .x = x.data<T>(),
                                                             .gamma = parameters.gamma,
                                                             .beta = parameters.beta,
                                                             .epsilon = parameters.epsilon,
                                                             .y = y.data<T>(),
                                                             .mean = statistics.mean.data<float>(),
                                                             .rstd = statistics.rstd.data<float>()});
  });
}

void layer_norm_backward(const Tensor& d_y, const Tensor& x, const NormParameters& parameters,
                         const RowStatistics& statistics, const NormGradients& gradients) {
  EFLOPS_CHECK(x.shape() == d_y.shape(), "x {}, d_y {}", x.shape().to_string(), d_y.shape().to_string());
  for_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::layer_norm_backward(kernels::LayerNormBackward<T>{.rows = x.rows(),
                                                               .columns = x.columns(),
                                                               .d_y = d_y.data<T>(),
                                                               .x = x.data<T>(),
                                                               .gamma = parameters.gamma,
                                                               .mean = statistics.mean.data<float>(),
                                                               .rstd = statistics.rstd.data<float>(),
                                                               .d_x = d_y.data<T>(),
                                                               .d_gamma = gradients.gamma,
                                                               .d_beta = gradients.beta});
  });
}

void residual_norm_forward(const ResidualNormForward& op) {
  EFLOPS_CHECK(op.x.shape() == op.residual.shape() && op.x.shape() == op.y.shape(), "x {}, residual {}, y {}",
               op.x.shape().to_string(), op.residual.shape().to_string(), op.y.shape().to_string());
  for_float_type(op.x.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::dropout_residual_layer_norm_forward(
        kernels::DropoutResidualLayerNormForward<T>{.rows = op.x.rows(),
                                                    .columns = op.x.columns(),
                                                    .gemm_out = op.x.data<T>(),
                                                    .bias = op.bias,
                                                    .residual = op.residual.data<T>(),
                                                    .dropout = op.dropout,
                                                    .gamma = op.norm.gamma,
                                                    .beta = op.norm.beta,
                                                    .epsilon = op.norm.epsilon,
                                                    .z = op.x.data<T>(),
                                                    .y = op.y.data<T>(),
                                                    .mean = op.statistics.mean.data<float>(),
                                                    .rstd = op.statistics.rstd.data<float>()});
  });
}

void residual_norm_backward(const ResidualNormBackward& op) {
  EFLOPS_CHECK(op.d_y.shape() == op.z.shape() && op.d_x.shape() == op.z.shape(), "d_y {}, z {}, d_x {}",
               op.d_y.shape().to_string(), op.z.shape().to_string(), op.d_x.shape().to_string());
  for_float_type(op.z.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::dropout_residual_layer_norm_backward(
        kernels::DropoutResidualLayerNormBackward<T>{.rows = op.z.rows(),
                                                     .columns = op.z.columns(),
                                                     .d_y = op.d_y.data<T>(),
                                                     .z = op.z.data<T>(),
                                                     .gamma = op.norm.gamma,
                                                     .mean = op.statistics.mean.data<float>(),
                                                     .rstd = op.statistics.rstd.data<float>(),
                                                     .dropout = op.dropout,
                                                     .d_residual = op.d_y.data<T>(),
                                                     .d_gemm_out = op.d_x.data<T>(),
                                                     .d_gamma = op.gradients.gamma,
                                                     .d_beta = op.gradients.beta,
                                                     .d_bias = op.d_bias});
  });
}

}  // namespace eflops::ops
