#pragma once

#include <vector>

#include "nn/linear.h"

namespace eflops::nn {

struct SentenceHeadOptions {
  std::string name = "cls.seq_relationship";
  std::int64_t width = 0;
  std::int64_t classes = 3;
  DType dtype = DType::F32;
};

/// A loss over sequences.
struct ClassLoss {
  double sum = 0.0;                  ///< of -log p(label) over labelled rows
  std::vector<std::int32_t> argmax;  ///< [B]
};

/// logits = W·pooled + b, softmax cross-entropy.
class SentenceHead {
 public:
  SentenceHead(ParameterStore& store, const SentenceHeadOptions& options);

  /// f32 [B, classes].
  Tensor forward(const Tensor& pooled, const Pass& pass);
  /// Of the logits of the last forward; labels [B] in [0, classes) or ops::kIgnoredLabel.
  ClassLoss loss(std::span<const std::int32_t> labels, const Tensor& logits) const;
  /// Gradient of scale · loss sum: adds to the gradients, returns d_pooled [B, H] in scratch. The logits are consumed.
  Tensor backward(std::span<const std::int32_t> labels, float scale, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const { dense_.visit_parameters(visit); }

 private:
  std::int64_t classes_;
  DType dtype_;
  Linear dense_;
  Tensor pooled_, logits_;
};

}  // namespace eflops::nn
