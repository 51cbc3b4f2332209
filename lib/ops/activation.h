#pragma once

#include "kernels/dropout.h"
#include "kernels/gelu.h"
#include "tensor/tensor.h"

namespace eflops::ops {

using kernels::Gelu;

/// y[:, :columns] = gelu(x + bias); x keeps its content unless y is x. x and y have the same shape, whose rows may be
/// longer than `columns` (ops::row_stride).
struct BiasGelu {
  tensor::Tensor x;
  const float* bias = nullptr;
  std::int64_t columns = 0;
  Gelu kind = Gelu::Erf;
};
void bias_gelu_forward(const BiasGelu& op, const tensor::Tensor& y);
/// d_y becomes d_x in place; d_bias += its column sums.
void bias_gelu_backward(const BiasGelu& op, const tensor::Tensor& d_y, float* d_bias);

/// y = tanh(x); y may be x.
void tanh_forward(const tensor::Tensor& x, const tensor::Tensor& y);
/// d_y becomes d_x in place, from the output y.
void tanh_backward(const tensor::Tensor& y, const tensor::Tensor& d_y);

/// x becomes mask(x) / (1 - p) in place; forward and backward alike.
void dropout_in_place(const tensor::Tensor& x, const kernels::Dropout& dropout);

/// d_bias[:columns] += column sums of d_y.
void bias_backward(const tensor::Tensor& d_y, std::int64_t columns, float* d_bias);

/// A copy in another floating type: y = x rounded or widened; equal types copy. Equal shapes.
void convert(const tensor::Tensor& x, const tensor::Tensor& y);

}  // namespace eflops::ops
