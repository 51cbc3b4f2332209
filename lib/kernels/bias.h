#pragma once

#include <cstdint>

#include "base/bfloat16.h"
#include "kernels/shape.h"

namespace eflops::kernels {

/// x[r, c] += bias[c], in place. T is float or bf16.
template <typename T>
void add_bias(T* x, const float* bias, MatrixShape shape);

/// sums[c] += sum over r of x[r, c]: the gradient of a bias. Sums blocks of 32 rows in float, then the blocks in row
/// order.
template <typename T>
void accumulate_column_sums(const T* x, MatrixShape shape, float* sums);
template <typename T>
void accumulate_column_sums(const T* x, std::int64_t rows, std::int64_t columns, float* sums) {
  accumulate_column_sums(x, MatrixShape{.rows = rows, .columns = columns}, sums);
}

}  // namespace eflops::kernels
