#include "ops/activation.h"

#include <cstring>

#include "kernels/bias.h"
#include "kernels/convert.h"
#include "kernels/tanh.h"

namespace eflops::ops {
namespace {

using tensor::DType;
using tensor::for_float_type;
using tensor::Tensor;

kernels::MatrixShape shape_of(const Tensor& tensor, std::int64_t columns) {
  EFLOPS_CHECK(columns <= tensor.columns(), "{} columns of {}", columns, tensor.shape().to_string());
  return {.rows = tensor.rows(), .columns = columns, .stride = tensor.columns()};
}

}  // namespace

void bias_gelu_forward(const BiasGelu& op, const Tensor& y) {
  EFLOPS_CHECK(op.x.shape() == y.shape(), "x {}, y {}", op.x.shape().to_string(), y.shape().to_string());
  for_float_type(op.x.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::bias_gelu_forward(op.x.data<T>(), op.bias, y.data<T>(), shape_of(y, op.columns), op.kind);
  });
}

void bias_gelu_backward(const BiasGelu& op, const Tensor& d_y, float* d_bias) {
  EFLOPS_CHECK(op.x.shape() == d_y.shape(), "x {}, d_y {}", op.x.shape().to_string(), d_y.shape().to_string());
  for_float_type(op.x.dtype(), [&](auto type) {
    using T = decltype(type);
    const kernels::BiasGeluBackward<T> buffers{
        .x = op.x.data<T>(), .bias = op.bias, .d_y = d_y.data<T>(), .d_x = d_y.data<T>(), .d_bias = d_bias};
    kernels::bias_gelu_backward(buffers, shape_of(d_y, op.columns), op.kind);
  });
}

void tanh_forward(const Tensor& x, const Tensor& y) {
  EFLOPS_CHECK(x.shape() == y.shape(), "x {}, y {}", x.shape().to_string(), y.shape().to_string());
  for_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::tanh_forward(x.data<T>(), y.data<T>(), x.elements());
  });
}

void tanh_backward(const Tensor& y, const Tensor& d_y) {
  EFLOPS_CHECK(y.shape() == d_y.shape(), "y {}, d_y {}", y.shape().to_string(), d_y.shape().to_string());
  for_float_type(y.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::tanh_backward(y.data<T>(), d_y.data<T>(), d_y.data<T>(), y.elements());
  });
}

void dropout_in_place(const Tensor& x, const kernels::Dropout& dropout) {
  for_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::dropout_forward(x.data<T>(), x.data<T>(), shape_of(x, x.columns()), dropout);
  });
}

void bias_backward(const Tensor& d_y, std::int64_t columns, float* d_bias) {
  for_float_type(d_y.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::accumulate_column_sums(d_y.data<T>(), shape_of(d_y, columns), d_bias);
  });
}

void convert(const Tensor& x, const Tensor& y) {
  EFLOPS_CHECK(x.shape() == y.shape(), "x {}, y {}", x.shape().to_string(), y.shape().to_string());
  if (x.dtype() == y.dtype())
    std::memcpy(y.raw(), x.raw(), static_cast<std::size_t>(x.bytes()));
  else if (x.dtype() == DType::F32)
    kernels::to_bf16(x.data<float>(), y.data<bf16>(), x.elements());
  else
    kernels::to_float(x.data<bf16>(), y.data<float>(), x.elements());
}

}  // namespace eflops::ops
