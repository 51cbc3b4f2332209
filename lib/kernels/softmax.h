#pragma once

#include <cstdint>

#include "base/bfloat16.h"
#include "kernels/shape.h"

namespace eflops::kernels {

/// In place: x[r, :] = softmax(scale * x[r, :]); log_sum_exp[r] = log(sum(exp(scale * x[r, :]))) unless it is null. T
/// is float or bf16. A row whose elements are all -Inf becomes zeros with log_sum_exp -Inf; a NaN makes its row NaN; a
/// row of length 0 has log_sum_exp -Inf.
template <typename T>
void softmax_forward(T* x, MatrixShape shape, float scale, float* log_sum_exp = nullptr);

/// d_x[r, :] = scale * y * (d_y - sum(d_y * y)), with y the output of forward; zero where a row of y is zero and d_y
/// finite. All three have `shape`; d_x may be d_y.
template <typename T>
void softmax_backward(const T* y, const T* d_y, T* d_x, MatrixShape shape, float scale);

}  // namespace eflops::kernels
