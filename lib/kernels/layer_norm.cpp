#include "kernels/layer_norm.h"

#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cpp"
#include "hwy/foreach_target.h"
#include "kernels/layer_norm.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

void layer_norm_f32(const LayerNormForward<float>& op, std::int64_t row) { normalise_row(op, row); }
void layer_norm_bf16(const LayerNormForward<bf16>& op, std::int64_t row) { normalise_row(op, row); }
void d_layer_norm_f32(const LayerNormBackward<float>& op, std::int64_t row) { normalise_row_backward(op, row); }
void d_layer_norm_bf16(const LayerNormBackward<bf16>& op, std::int64_t row) { normalise_row_backward(op, row); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(layer_norm_f32);
HWY_EXPORT(layer_norm_bf16);
HWY_EXPORT(d_layer_norm_f32);
HWY_EXPORT(d_layer_norm_bf16);

template <typename T>
void layer_norm_forward(const LayerNormForward<T>& op) {
  parallel_for(op.rows, row_grain(op.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) EFLOPS_KERNELS_DISPATCH(T, layer_norm, op, row);
  });
}

template <typename T>
void layer_norm_backward(const LayerNormBackward<T>& op) {
  RowBlockSums blocks(op.rows, 2 * op.columns);
  blocks.for_each_block([&](std::int64_t begin, std::int64_t end, float* partial) {
    LayerNormBackward<T> block = op;
    block.d_gamma = partial;
    block.d_beta = partial + op.columns;
    for (std::int64_t row = begin; row < end; ++row) EFLOPS_KERNELS_DISPATCH(T, d_layer_norm, block, row);
  });
  blocks.add_to(op.d_gamma, 0, op.columns);
  blocks.add_to(op.d_beta, op.columns, op.columns);
}

template void layer_norm_forward(const LayerNormForward<float>&);
template void layer_norm_forward(const LayerNormForward<bf16>&);
template void layer_norm_backward(const LayerNormBackward<float>&);
template void layer_norm_backward(const LayerNormBackward<bf16>&);

}  // namespace eflops::kernels
#endif
