#pragma once

#include "nn/layer_norm.h"

namespace eflops::nn {

struct EmbeddingsOptions {
  std::string name = "bert.embeddings";
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;
  std::int64_t segments = 0;
  std::int64_t width = 0;
  double epsilon = 1e-12;
  double dropout = 0.0;
  std::uint64_t salt = 0;
  tensor::DType dtype = tensor::DType::F32;
};

/// i32 [T] each; kept until backward.
struct TokenIds {
  Tensor words;
  Tensor positions;
  Tensor segments;
};

/// x = dropout(LN(word + position + segment)), [T, H].
class Embeddings {
 public:
  Embeddings(ParameterStore& store, const EmbeddingsOptions& options);

  Tensor forward(const TokenIds& ids, const Pass& pass);
  /// Adds to the gradients; d_x is consumed. The word table comes last: a tied decoder has added to it before.
  void backward(const Tensor& d_x, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const;

  /// [V, H]; a decoder may share it.
  const ParameterRef& words() const { return words_; }

 private:
  ops::Dropout dropout(const Pass& pass) const;

  EmbeddingsOptions options_;
  ParameterRef words_;
  ParameterRef positions_;
  ParameterRef segments_;
  LayerNorm norm_;
  TokenIds ids_;
};

}  // namespace eflops::nn
