#pragma once

#include <cstdint>

#include "base/bfloat16.h"

namespace eflops::kernels {

/// y[i] = tanh(x[i]), relative error below 1e-6 in float. T is float or bf16; y may be x.
template <typename T>
void tanh_forward(const T* x, T* y, std::int64_t n);

/// d_x[i] = d_y[i] (1 - y[i]^2), from the output y; d_x may be d_y.
template <typename T>
void tanh_backward(const T* y, const T* d_y, T* d_x, std::int64_t n);

}  // namespace eflops::kernels
