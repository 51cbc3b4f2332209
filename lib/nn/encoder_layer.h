#pragma once

#include "nn/feed_forward.h"
#include "nn/self_attention.h"

namespace eflops::nn {

/// One post-LN Transformer layer: self-attention, then feed-forward.
class EncoderLayer {
 public:
  EncoderLayer(ParameterStore& store, const EncoderLayerOptions& options);

  /// [T, H] to [T, H]. In evaluation x's buffer is overwritten and returned.
  Tensor forward(const Tensor& x, const Pass& pass);
  /// Adds to the gradients; d_y becomes d_x in place and is returned.
  Tensor backward(const Tensor& d_y, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const;

 private:
  SelfAttention attention_;
  FeedForward feed_forward_;
};

}  // namespace eflops::nn
