#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/structbert_options.h"
#include "nn/parameter_store.h"
#include "nn/pass.h"
#include "tensor/tensor.h"

namespace eflops::models {

using nn::Mode;

/// A packed batch: B sequences in T tokens, no padding. forward() copies what backward() needs.
struct StructBertInput {
  std::span<const std::int32_t> tokens;            ///< [T] ids below the vocabulary
  std::span<const std::int32_t> segments;          ///< [T]
  std::span<const std::int32_t> positions;         ///< [T] place in the sequence
  std::span<const std::int32_t> offsets;           ///< [B+1]: sequence i is [offsets[i], offsets[i+1]); may be empty
  std::span<const std::int32_t> predicted_rows;    ///< [P] row numbers in [0, T); may be empty
  std::span<const std::int32_t> predicted_labels;  ///< [P] token ids; -100 is ignored
  std::span<const std::int32_t> sentence_labels;   ///< [B] classes, -100 ignored; empty: no sentence objective
  std::span<const std::uint64_t> sample_keys;      ///< [B] dropout keys: of seed, step and global sample; may be empty
                                                   ///< where nothing drops
};

/// Sums, not means: the caller knows the counts of the whole global batch (DESIGN D8).
struct StructBertLoss {
  double masked_sum = 0.0;                     ///< of -log p(label) over labelled predictions
  double sentence_sum = 0.0;                   ///< of -log p(label) over labelled sequences
  std::vector<float> per_prediction_loss;      ///< [P]; 0 where ignored
  std::vector<std::int32_t> predicted_argmax;  ///< [P] most probable token
  std::vector<std::int32_t> sentence_argmax;   ///< [B] most probable class, -1 for an empty sequence; or empty
};

/// StructBERT (arXiv:1908.04577) for pre-training: encoder, tied masked-token head on predicted rows, pooler and
/// sentence head; parameters under Hugging Face's names. Activations and scratch memory are kept from call to call.
/// Driven by one thread, which uses the pool inside.
class StructBert {
 public:
  /// Registers and initialises all parameters; ConfigError for invalid options.
  StructBert(const StructBertOptions& options, std::uint64_t seed);
  ~StructBert();

  /// The parameters that a model of these options has; allocates no values.
  static std::vector<nn::Parameter> parameters_of(const StructBertOptions& options);

  const StructBertOptions& options() const;
  nn::ParameterStore& parameters();

  /// DataError for ids, positions, labels or offsets out of range; a sequence longer than `positions` is one. Train
  /// keeps activations for backward().
  StructBertLoss forward(const StructBertInput& input, Mode mode);
  /// Adds d(masked_scale · masked_sum + sentence_scale · sentence_sum) to the bound gradients. The scales are weight /
  /// count over the whole global batch. Once per forward in Train.
  void backward(float masked_scale, float sentence_scale, const nn::OnReady& on_ready = {});
  /// forward in Train followed by backward, bit for bit, but logits are made only once: the way to train.
  StructBertLoss forward_backward(const StructBertInput& input, float masked_scale, float sentence_scale,
                                  const nn::OnReady& on_ready = {});

  /// Of the last forward, as f32 copies: final hidden states [T, H].
  tensor::Tensor hidden() const;
  /// Masked-token logits [P, V] of the last forward in Evaluate.
  tensor::Tensor masked_logits();
  /// Sentence logits [B', C] of the last forward, one row for each sequence that is not empty.
  tensor::Tensor sentence_logits() const;

  /// Most bytes that activations and scratch took so far.
  std::int64_t peak_activation_bytes() const;
  /// What multiplies the matrices: "sgemm", "primitive" (native bf16) or "emulated".
  std::string implementation() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eflops::models
