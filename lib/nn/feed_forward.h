#pragma once

#include "nn/self_attention.h"

namespace eflops::nn {

/// y = LN(x + dropout(gelu(x·W_1 + b_1)·W_2 + b_2)). gelu's output is computed again in backward instead of kept: a
/// pass over it costs less than its memory.
class FeedForward {
 public:
  FeedForward(ParameterStore& store, const EncoderLayerOptions& options);

  /// y must not be x; both [T, H].
  void forward(const Tensor& x, const Tensor& y, const Pass& pass);
  /// Adds to the gradients; d_y becomes d_x in place.
  void backward(const Tensor& d_y, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const;

 private:
  ops::BiasGelu activation(const Tensor& raw) const;

  EncoderLayerOptions options_;
  Linear intermediate_;
  Linear output_;
  ResidualNorm norm_;
  Tensor x_, raw_;
};

}  // namespace eflops::nn
