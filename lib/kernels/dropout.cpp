#include "kernels/dropout.h"

#include "base/error.h"
#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cpp"
#include "hwy/foreach_target.h"
#include "kernels/dropout.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

template <typename T>
void mask(const T* x, T* y, std::int64_t n, const Dropout& dropout, std::int64_t row) {
  for_each_masked(mask_row(dropout, row), n, [&](auto part, std::int64_t i, Vector factor) HWY_ATTR {
    store(part, hn::Mul(load(part, x + i), factor), y + i);
  });
}

void dropout_f32(const float* x, float* y, std::int64_t n, const Dropout& dropout, std::int64_t row) {
  mask(x, y, n, dropout, row);
}
void dropout_bf16(const bf16* x, bf16* y, std::int64_t n, const Dropout& dropout, std::int64_t row) {
  mask(x, y, n, dropout, row);
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(dropout_f32);
HWY_EXPORT(dropout_bf16);

template <typename T>
void dropout_forward(const T* x, T* y, MatrixShape shape, const Dropout& dropout) {
  EFLOPS_CHECK(dropout.probability >= 0.0F && dropout.probability < 1.0F, "dropout probability {}",
               dropout.probability);
  parallel_for(shape.rows, row_grain(shape.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * shape.row_stride();
      if (dropout.probability > 0.0F) {
        EFLOPS_KERNELS_DISPATCH(T, dropout, x + at, y + at, shape.columns, dropout, row);
      } else if (x != y) {
        std::copy_n(x + at, shape.columns, y + at);
      }
    }
  });
}

template void dropout_forward(const float*, float*, MatrixShape, const Dropout&);
template void dropout_forward(const bf16*, bf16*, MatrixShape, const Dropout&);

}  // namespace eflops::kernels
#endif
