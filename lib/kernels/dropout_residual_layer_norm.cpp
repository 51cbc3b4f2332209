#include "base/error.h"
#include "kernels/blocks.h"
#include "kernels/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout_residual_layer_norm.cpp"
#include "hwy/foreach_target.h"
#include "kernels/dropout.inl"
#include "kernels/layer_norm.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

/// z = residual + dropout(gemm_out + bias); then y = LN(z) from the stored z, so that backward sees the same numbers.
template <typename T>
void forward(DropoutResidualLayerNormForward<T> op, std::int64_t row) {
  const std::int64_t at = row * op.columns;
  const auto sublayer = [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector x = load(part, op.gemm_out + at + i);
    return op.bias == nullptr ? x : hn::Add(x, load(part, op.bias + i));
  };
  if (op.dropout.probability > 0.0F) {
    for_each_masked(mask_row(op.dropout, row), op.columns, [&](auto part, std::int64_t i, Vector factor) HWY_ATTR {
      store(part, hn::Add(hn::Mul(sublayer(part, i), factor), load(part, op.residual + at + i)), op.z + at + i);
    });
  } else {
    for_each_vector(op.columns, [&](auto part, std::int64_t i) HWY_ATTR {
      store(part, hn::Add(sublayer(part, i), load(part, op.residual + at + i)), op.z + at + i);
    });
  }
  normalise_row(LayerNormForward<T>{.rows = op.rows,
                                    .columns = op.columns,
                                    .x = op.z,
                                    .gamma = op.gamma,
                                    .beta = op.beta,
                                    .epsilon = op.epsilon,
                                    .y = op.y,
                                    .mean = op.mean,
                                    .rstd = op.rstd},
                row);
}

/// d_residual = the gradient of z; d_gemm_out = d_residual through the mask; d_bias += d_gemm_out.
template <typename T>
void backward(DropoutResidualLayerNormBackward<T> op, std::int64_t row) {
  normalise_row_backward(LayerNormBackward<T>{.rows = op.rows,
                                              .columns = op.columns,
                                              .d_y = op.d_y,
                                              .x = op.z,
                                              .gamma = op.gamma,
                                              .mean = op.mean,
                                              .rstd = op.rstd,
                                              .d_x = op.d_residual,
                                              .d_gamma = op.d_gamma,
                                              .d_beta = op.d_beta},
                         row);
  const T* d_z = op.d_residual + row * op.columns;
  T* d_out = op.d_gemm_out + row * op.columns;
  const auto finish = [&](auto part, std::int64_t i, Vector d) HWY_ATTR {
    store(part, d, d_out + i);
    if (op.d_bias != nullptr) store(part, hn::Add(load(part, op.d_bias + i), d), op.d_bias + i);
  };
  if (op.dropout.probability > 0.0F) {
    for_each_masked(mask_row(op.dropout, row), op.columns, [&](auto part, std::int64_t i, Vector factor) HWY_ATTR {
      finish(part, i, hn::Mul(load(part, d_z + i), factor));
    });
  } else {
    for_each_vector(op.columns, [&](auto part, std::int64_t i) HWY_ATTR { finish(part, i, load(part, d_z + i)); });
  }
}

void block_end_f32(const DropoutResidualLayerNormForward<float>& op, std::int64_t row) { forward(op, row); }
void block_end_bf16(const DropoutResidualLayerNormForward<bf16>& op, std::int64_t row) { forward(op, row); }
void d_block_end_f32(const DropoutResidualLayerNormBackward<float>& op, std::int64_t row) { backward(op, row); }
void d_block_end_bf16(const DropoutResidualLayerNormBackward<bf16>& op, std::int64_t row) { backward(op, row); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(block_end_f32);
HWY_EXPORT(block_end_bf16);
HWY_EXPORT(d_block_end_f32);
HWY_EXPORT(d_block_end_bf16);

template <typename T>
void dropout_residual_layer_norm_forward(const DropoutResidualLayerNormForward<T>& op) {
  const float p = op.dropout.probability;
  EFLOPS_CHECK(p >= 0.0F && p < 1.0F, "dropout probability {}", p);
  EFLOPS_CHECK(op.y != op.z && op.y != op.residual, "y needs a buffer of its own");
  parallel_for(op.rows, row_grain(op.columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) EFLOPS_KERNELS_DISPATCH(T, block_end, op, row);
  });
}

template <typename T>
void dropout_residual_layer_norm_backward(const DropoutResidualLayerNormBackward<T>& op) {
  const float p = op.dropout.probability;
  EFLOPS_CHECK(p >= 0.0F && p < 1.0F, "dropout probability {}", p);
  EFLOPS_CHECK(op.d_gemm_out != op.d_residual || p == 0.0F, "with dropout the two gradients differ");
  const bool with_bias = op.d_bias != nullptr;
  RowBlockSums blocks(op.rows, (with_bias ? 3 : 2) * op.columns);
  blocks.for_each_block([&](std::int64_t begin, std::int64_t end, float* partial) {
    DropoutResidualLayerNormBackward<T> block = op;
    block.d_gamma = partial;
    block.d_beta = partial + op.columns;
    if (with_bias) block.d_bias = partial + 2 * op.columns;
    for (std::int64_t row = begin; row < end; ++row) EFLOPS_KERNELS_DISPATCH(T, d_block_end, block, row);
  });
  blocks.add_to(op.d_gamma, 0, op.columns);
  blocks.add_to(op.d_beta, op.columns, op.columns);
  if (with_bias) blocks.add_to(op.d_bias, 2 * op.columns, op.columns);
}

template void dropout_residual_layer_norm_forward(const DropoutResidualLayerNormForward<float>&);
template void dropout_residual_layer_norm_forward(const DropoutResidualLayerNormForward<bf16>&);
template void dropout_residual_layer_norm_backward(const DropoutResidualLayerNormBackward<float>&);
template void dropout_residual_layer_norm_backward(const DropoutResidualLayerNormBackward<bf16>&);

}  // namespace eflops::kernels
#endif
