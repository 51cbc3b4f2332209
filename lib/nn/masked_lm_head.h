#pragma once

#include <optional>
#include <vector>

#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "ops/activation.h"

namespace eflops::nn {

struct MaskedLmHeadOptions {
  std::string name = "cls.predictions";
  std::int64_t vocabulary = 0;
  std::int64_t width = 0;
  ops::Gelu gelu = ops::Gelu::Erf;
  double epsilon = 1e-12;
  DType dtype = DType::F32;
};

/// Which tokens are predicted, and what stood there.
struct MaskedTargets {
  Tensor rows;                           ///< i32 [P], row numbers of the hidden states
  std::span<const std::int32_t> labels;  ///< [P], in [0, V) or ops::kIgnoredLabel
};

struct MaskedLoss {
  double sum = 0.0;                  ///< of -log p(label) over labelled predictions
  std::vector<double> rows;          ///< [P]
  std::vector<std::int32_t> argmax;  ///< [P]
};

/// logits = LN(gelu(x·W + b))·Eᵀ + c on predicted rows only, E the word embeddings (tied). Logits exist for a block of
/// predictions at a time: at most kLogitBytes of them, whatever the batch.
class MaskedLmHead {
 public:
  static constexpr std::int64_t kLogitBytes = std::int64_t{48} << 20;

  /// `words` [V, H] is the embedding table of the same store.
  MaskedLmHead(ParameterStore& store, const MaskedLmHeadOptions& options, const ParameterRef& words);

  /// Losses of hidden [T, H]. With `gradient_scale` in training, the decoder's gradients of gradient_scale · sum are
  /// added at once, while the logits are there; otherwise backward makes the logits again.
  MaskedLoss forward(const Tensor& hidden, const MaskedTargets& targets, std::optional<float> gradient_scale,
                     const Pass& pass);
  /// Adds the gradients of scale · sum to the parameters and to the predicted rows of d_hidden. `scale` must be
  /// forward's gradient_scale if it had one. The word table is not ready yet: the embeddings add to it.
  void backward(float scale, const Tensor& d_hidden, const Pass& pass);
  /// Log-probability inputs of evaluation: f32 logits [P, V] of hidden's `rows`, in the scratch arena.
  Tensor logits(const Tensor& hidden, const Tensor& rows, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const;

 private:
  Tensor transform(const Tensor& hidden, const Tensor& rows, const Pass& pass);
  MaskedLoss run_decoder(const Tensor& transformed, std::span<const std::int32_t> labels,
                         std::optional<float> gradient_scale, const Pass& pass);
  void decode(const Tensor& transformed, const Tensor& logits, const Pass& pass);
  ops::LinearWeights decoder_weights() const;

  MaskedLmHeadOptions options_;
  ParameterRef words_;
  ParameterRef bias_;
  ops::Linear decoder_;
  Linear dense_;
  LayerNorm norm_;
  MaskedTargets targets_;
  Tensor selected_, raw_, transformed_, d_transformed_;
  std::optional<float> gradient_scale_;
};

}  // namespace eflops::nn
