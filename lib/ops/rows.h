#pragma once

#include "tensor/tensor.h"

namespace eflops::ops {

/// A table [N, H] of f32 and one row number a token, i32 [T].
struct Lookup {
  const float* table = nullptr;
  std::int64_t rows = 0;
  tensor::Tensor ids;
};

/// out [T, H] = word + position + segment rows.
void embedding_forward(const Lookup& word, const Lookup& position, const Lookup& segment, const tensor::Tensor& out);
/// d_table[ids[t], :] += d_out[t, :] in the order of t.
void embedding_backward(const tensor::Tensor& d_out, const tensor::Tensor& ids, float* d_table);

/// y [P, H] = x[rows[i], :], rows i32 [P].
void gather_rows(const tensor::Tensor& x, const tensor::Tensor& rows, const tensor::Tensor& y);
/// d_x[rows[i], :] += d_y[i, :] in the order of i.
void gather_rows_backward(const tensor::Tensor& d_y, const tensor::Tensor& rows, const tensor::Tensor& d_x);

}  // namespace eflops::ops
