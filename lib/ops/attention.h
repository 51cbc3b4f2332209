#pragma once

#include <cstdint>
#include <span>

#include "tensor/arena.h"
#include "tensor/tensor.h"

namespace eflops::ops {

/// H = heads · head_size is the width.
struct AttentionOptions {
  std::int64_t heads = 1;
  std::int64_t head_size = 64;
  float dropout = 0.0F;    ///< of the probabilities
  std::uint64_t salt = 0;  ///< this layer's place; head h draws with salt + h
};

/// Packed sequences: tokens [offsets[i], offsets[i+1]) of T are sequence i, which may be empty. Dropout happens only
/// where `row_keys` (one a token) are given.
struct AttentionBatch {
  std::span<const std::int32_t> offsets;
  const std::uint64_t* row_keys = nullptr;
};

/// Scaled dot-product self-attention of each sequence with itself (Vaswani et al., arXiv:1706.03762, eq. 1), scale
/// 1/sqrt(head_size). qkv is [T, >= 3H], a row holding q, k, v of H elements each; context is [T, >= H]. Arithmetic in
/// f32, softmax over whole rows; scores exist for a block of queries at a time, and backward makes them again from q
/// and k, so nothing of T x T is stored. Results do not depend on the thread count (but for one head of one sequence).
class Attention {
 public:
  explicit Attention(const AttentionOptions& options);

  /// context = softmax(q·kᵀ·scale)·v.
  void forward(const tensor::Tensor& qkv, const AttentionBatch& batch, const tensor::Tensor& context,
               tensor::Arena& scratch) const;
  /// d_qkv, overwritten, from qkv and the gradient of context.
  void backward(const tensor::Tensor& qkv, const tensor::Tensor& d_context, const AttentionBatch& batch,
                const tensor::Tensor& d_qkv, tensor::Arena& scratch) const;

  const AttentionOptions& options() const { return options_; }

 private:
  AttentionOptions options_;
};

}  // namespace eflops::ops
