#include "kernels/bias.h"

#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bias.cpp"
#include "hwy/foreach_target.h"
#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

/// out[i] += row[i]: a bias into a row, or a row into the sums.
template <typename Out, typename Row>
void add_row(Out* out, const Row* row, std::int64_t n) {
  for_each_vector(n, [&](auto part, std::int64_t i)
                         HWY_ATTR { store(part, hn::Add(load(part, out + i), load(part, row + i)), out + i); });
}

void add_bias_f32(float* x, const float* bias, std::int64_t n) { add_row(x, bias, n); }
void add_bias_bf16(bf16* x, const float* bias, std::int64_t n) { add_row(x, bias, n); }
void add_to_sums_f32(const float* x, float* sums, std::int64_t n) { add_row(sums, x, n); }
void add_to_sums_bf16(const bf16* x, float* sums, std::int64_t n) { add_row(sums, x, n); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(add_bias_f32);
HWY_EXPORT(add_bias_bf16);
HWY_EXPORT(add_to_sums_f32);
HWY_EXPORT(add_to_sums_bf16);

template <typename T>
void add_bias(T* x, const float* bias, MatrixShape shape) {
  parallel_for(shape.rows, row_grain(shape.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      EFLOPS_KERNELS_DISPATCH(T, add_bias, x + row * shape.row_stride(), bias, shape.columns);
    }
  });
}

template <typename T>
void accumulate_column_sums(const T* x, MatrixShape shape, float* sums) {
  RowBlockSums blocks(shape.rows, shape.columns);
  blocks.for_each_block([&](std::int64_t begin, std::int64_t end, float* partial) {
    for (std::int64_t row = begin; row < end; ++row) {
      EFLOPS_KERNELS_DISPATCH(T, add_to_sums, x + row * shape.row_stride(), partial, shape.columns);
    }
  });
  blocks.add_to(sums, 0, shape.columns);
}

template void add_bias(float*, const float*, MatrixShape);
template void add_bias(bf16*, const float*, MatrixShape);
template void accumulate_column_sums(const float*, MatrixShape, float*);
template void accumulate_column_sums(const bf16*, MatrixShape, float*);

}  // namespace eflops::kernels
#endif
