#pragma once

#include <cstdint>

#include "base/bfloat16.h"

namespace eflops::kernels {

/// `count` rows of a float table.
struct EmbeddingTable {
  const float* rows = nullptr;
  std::int64_t count = 0;
};

/// One lookup a token: the row of `ids[t]`. An id outside the table is InternalError; data are checked before.
struct EmbeddingLookup {
  EmbeddingTable table = {};
  const std::int32_t* ids = nullptr;
};

/// out[t, :] = word[t] + position[t] + segment[t], added in this order in float; out is tokens x columns, T float or
/// bf16.
template <typename T>
struct EmbeddingSum {
  EmbeddingLookup word = {};
  EmbeddingLookup position = {};
  EmbeddingLookup segment = {};
  std::int64_t tokens = 0;
  std::int64_t columns = 0;
  T* out = nullptr;
};
template <typename T>
void embedding_sum(const EmbeddingSum<T>& op);

/// A list of row numbers of a matrix with `columns` columns.
struct RowIndex {
  const std::int32_t* rows = nullptr;
  std::int64_t count = 0;
  std::int64_t columns = 0;
};

/// d_table[index.rows[i], :] += d_y[i, :] in the order of i: the gradient of a lookup.
template <typename T>
void accumulate_rows(const T* d_y, RowIndex index, float* d_table);
template <typename T>
void accumulate_rows(const T* d_y, const std::int32_t* ids, std::int64_t rows, std::int64_t columns, float* d_table) {
  accumulate_rows(d_y, RowIndex{.rows = ids, .count = rows, .columns = columns}, d_table);
}

/// y[i, :] = x[index.rows[i], :]: predicted positions, [CLS] rows.
template <typename T>
void gather_rows(const T* x, RowIndex index, T* y);

/// x[index.rows[i], :] = y[i, :]; the row numbers must differ.
template <typename T>
void scatter_rows(const T* y, RowIndex index, T* x);

/// x[index.rows[i], :] += y[i, :] in the order of i: the gradient of gather_rows; row numbers may repeat.
template <typename T>
void scatter_add_rows(const T* y, RowIndex index, T* x);

}  // namespace eflops::kernels
