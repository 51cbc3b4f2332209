#include "ops/rows.h"

#include "kernels/embedding.h"

namespace eflops::ops {
namespace {

using tensor::for_float_type;
using tensor::Tensor;

kernels::EmbeddingLookup kernel_lookup(const Lookup& lookup, std::int64_t tokens) {
  EFLOPS_CHECK(lookup.ids.elements() == tokens, "{} ids of {} tokens", lookup.ids.elements(), tokens);
  return {.table = {.rows = lookup.table, .count = lookup.rows}, .ids = lookup.ids.data<std::int32_t>()};
}

kernels::RowIndex index_of(const Tensor& rows, const Tensor& matrix) {
  EFLOPS_CHECK(rows.elements() == matrix.rows(), "{} row numbers for {}", rows.elements(), matrix.shape().to_string());
  return {.rows = rows.data<std::int32_t>(), .count = matrix.rows(), .columns = matrix.columns()};
}

}  // namespace

void embedding_forward(const Lookup& word, const Lookup& position, const Lookup& segment, const Tensor& out) {
  for_float_type(out.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::embedding_sum(kernels::EmbeddingSum<T>{.word = kernel_lookup(word, out.rows()),
                                                    .position = kernel_lookup(position, out.rows()),
                                                    .segment = kernel_lookup(segment, out.rows()),
                                                    .tokens = out.rows(),
                                                    .columns = out.columns(),
                                                    .out = out.data<T>()});
  });
}

void embedding_backward(const Tensor& d_out, const Tensor& ids, float* d_table) {
  for_float_type(d_out.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::accumulate_rows(d_out.data<T>(), index_of(ids, d_out), d_table);
  });
}

void gather_rows(const Tensor& x, const Tensor& rows, const Tensor& y) {
  for_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::gather_rows(x.data<T>(), index_of(rows, y), y.data<T>());
  });
}

void gather_rows_backward(const Tensor& d_y, const Tensor& rows, const Tensor& d_x) {
  for_float_type(d_x.dtype(), [&](auto type) {
    using T = decltype(type);
    kernels::scatter_add_rows(d_y.data<T>(), index_of(rows, d_y), d_x.data<T>());
  });
}

}  // namespace eflops::ops
