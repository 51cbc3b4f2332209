#include "kernels/embedding.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/embedding.cpp"
#include "hwy/foreach_target.h"
#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

template <typename T>
void sum_row(const EmbeddingSum<T>& op, std::int64_t token) {
  const auto row = [&](const EmbeddingLookup& lookup) { return lookup.table.rows + lookup.ids[token] * op.columns; };
  const float* word = row(op.word);
  const float* position = row(op.position);
  const float* segment = row(op.segment);
  T* out = op.out + token * op.columns;
  for_each_vector(op.columns, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector two = hn::Add(load(part, word + i), load(part, position + i));
    store(part, hn::Add(two, load(part, segment + i)), out + i);
  });
}

template <typename Out, typename In>
void add_range(Out* out, const In* in, std::int64_t n) {
  for_each_vector(n, [&](auto part, std::int64_t i)
                         HWY_ATTR { store(part, hn::Add(load(part, out + i), load(part, in + i)), out + i); });
}

void sum_row_f32(const EmbeddingSum<float>& op, std::int64_t token) { sum_row(op, token); }
void sum_row_bf16(const EmbeddingSum<bf16>& op, std::int64_t token) { sum_row(op, token); }
void add_to_table_f32(float* out, const float* in, std::int64_t n) { add_range(out, in, n); }
void add_to_table_bf16(float* out, const bf16* in, std::int64_t n) { add_range(out, in, n); }
void add_row_f32(float* out, const float* in, std::int64_t n) { add_range(out, in, n); }
void add_row_bf16(bf16* out, const bf16* in, std::int64_t n) { add_range(out, in, n); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {
namespace {

HWY_EXPORT(sum_row_f32);
HWY_EXPORT(sum_row_bf16);
HWY_EXPORT(add_to_table_f32);
HWY_EXPORT(add_to_table_bf16);
HWY_EXPORT(add_row_f32);
HWY_EXPORT(add_row_bf16);

void check_ids(const EmbeddingLookup& lookup, std::int64_t tokens, const char* what) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    const std::int32_t id = lookup.ids[t];
    EFLOPS_CHECK(id >= 0 && id < lookup.table.count, "{} id {} of token {}, table of {}", what, id, t,
                 lookup.table.count);
  }
}

/// Calls body(i, first_column, columns) for every row i in order, for stripes of columns in parallel: two rows that
/// meet in one place are always added in the same order.
template <typename Body>
void for_each_row_in_stripes(RowIndex index, const Body& body) {
  constexpr std::int64_t kStripe = 64;  // floats: four cache lines
  const bool small = index.count * index.columns <= kElementGrain;
  parallel_for(index.columns, small ? index.columns : kStripe, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < index.count; ++i) body(i, begin, end - begin);
  });
}

}  // namespace

template <typename T>
void embedding_sum(const EmbeddingSum<T>& op) {
  check_ids(op.word, op.tokens, "word");
  check_ids(op.position, op.tokens, "position");
  check_ids(op.segment, op.tokens, "segment");
  parallel_for(op.tokens, row_grain(op.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token = begin; token < end; ++token) EFLOPS_KERNELS_DISPATCH(T, sum_row, op, token);
  });
}

template <typename T>
void accumulate_rows(const T* d_y, RowIndex index, float* d_table) {
  for_each_row_in_stripes(index, [&](std::int64_t i, std::int64_t first, std::int64_t n) {
    float* out = d_table + index.rows[i] * index.columns + first;
    EFLOPS_KERNELS_DISPATCH(T, add_to_table, out, d_y + i * index.columns + first, n);
  });
}

template <typename T>
void gather_rows(const T* x, RowIndex index, T* y) {
  parallel_for(index.count, row_grain(index.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::copy_n(x + index.rows[i] * index.columns, index.columns, y + i * index.columns);
    }
  });
}

template <typename T>
void scatter_rows(const T* y, RowIndex index, T* x) {
  parallel_for(index.count, row_grain(index.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::copy_n(y + i * index.columns, index.columns, x + index.rows[i] * index.columns);
    }
  });
}

template <typename T>
void scatter_add_rows(const T* y, RowIndex index, T* x) {
  for_each_row_in_stripes(index, [&](std::int64_t i, std::int64_t first, std::int64_t n) {
    T* out = x + index.rows[i] * index.columns + first;
    EFLOPS_KERNELS_DISPATCH(T, add_row, out, y + i * index.columns + first, n);
  });
}

template void embedding_sum(const EmbeddingSum<float>&);
template void embedding_sum(const EmbeddingSum<bf16>&);
template void accumulate_rows(const float*, RowIndex, float*);
template void accumulate_rows(const bf16*, RowIndex, float*);
template void gather_rows(const float*, RowIndex, float*);
template void gather_rows(const bf16*, RowIndex, bf16*);
template void scatter_rows(const float*, RowIndex, float*);
template void scatter_rows(const bf16*, RowIndex, bf16*);
template void scatter_add_rows(const float*, RowIndex, float*);
template void scatter_add_rows(const bf16*, RowIndex, bf16*);

}  // namespace eflops::kernels
#endif
