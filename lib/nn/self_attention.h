#pragma once

#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "ops/activation.h"
#include "ops/attention.h"

namespace eflops::nn {

/// Shared by the two halves of an encoder layer; `name` ends before ".attention", ".intermediate", ".output".
struct EncoderLayerOptions {
  std::string name;
  std::int64_t width = 0;
  std::int64_t heads = 1;
  std::int64_t intermediate = 0;
  ops::Gelu gelu = ops::Gelu::Erf;
  double epsilon = 1e-12;
  double dropout = 0.0;
  double attention_dropout = 0.0;
  std::uint64_t salt = 0;  ///< the layer's own kSaltsPerLayer numbers from here on
  DType dtype = DType::F32;
};
/// Dropout sites of a layer: attention heads first, then the two residual branches.
inline constexpr std::uint64_t kSaltsPerLayer = std::uint64_t{1} << 20;

/// y = LN(x + dropout(attention(x·W_qkv)·W_o)).
class SelfAttention {
 public:
  SelfAttention(ParameterStore& store, const EncoderLayerOptions& options);

  /// y must not be x; both [T, H].
  void forward(const Tensor& x, const Tensor& y, const Pass& pass);
  /// Adds to the gradients; d_y becomes d_x in place.
  void backward(const Tensor& d_y, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const;

 private:
  ops::AttentionBatch batch(const Pass& pass) const;

  EncoderLayerOptions options_;
  Linear qkv_;
  ops::Attention attention_;
  Linear output_;
  ResidualNorm norm_;
  Tensor x_, projected_, context_;
};

}  // namespace eflops::nn
