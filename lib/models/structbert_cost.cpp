#include "models/structbert_cost.h"

#include <algorithm>

#include "nn/masked_lm_head.h"
#include "ops/engine.h"
#include "ops/linear.h"
#include "tensor/arena.h"

namespace eflops::models {
namespace {

std::int64_t padded(std::int64_t rows) { return tensor::Arena::padded(rows); }

/// Weights of the matrix products of one encoder layer.
std::int64_t layer_weights(const StructBertOptions& o) {
  return 4 * o.hidden * o.hidden + 2 * o.hidden * o.intermediate;
}

std::int64_t matrix_weights(const StructBertOptions& o) {
  return o.layers * layer_weights(o) + 2 * o.hidden * o.hidden + (o.vocabulary + o.sentence_classes) * o.hidden;
}

/// Bytes of the activations' rows, layer by layer as nn keeps them.
std::int64_t kept_bytes(const StructBertOptions& o, const BatchShape& batch, tensor::DType dtype) {
  const std::int64_t element = tensor::bytes_of(dtype);
  const std::int64_t wide = ops::row_stride(3 * o.hidden, dtype) + ops::row_stride(o.intermediate, dtype);
  const std::int64_t layer = padded(batch.tokens) * (wide + 5 * o.hidden) * element + 4 * 4 * batch.tokens;
  const std::int64_t embeddings = padded(batch.tokens) * 2 * o.hidden * element + 5 * 4 * batch.tokens;
  const std::int64_t masked = padded(batch.predictions) * 5 * o.hidden * element;
  const std::int64_t sentence = padded(batch.sequences) * (2 * o.hidden * element + 4 * o.sentence_classes);
  return o.layers * layer + embeddings + masked + sentence;
}

std::int64_t scratch_bytes(const StructBertOptions& o, const BatchShape& batch, tensor::DType dtype) {
  const std::int64_t element = tensor::bytes_of(dtype);
  const std::int64_t rows = padded(batch.tokens);
  const std::int64_t gradient = rows * o.hidden * element;
  const std::int64_t branch = o.dropout > 0.0 ? gradient : 0;
  const std::int64_t inner = rows * ops::row_stride(o.intermediate, dtype) * element;
  const std::int64_t projected = rows * ops::row_stride(3 * o.hidden, dtype) * element;
  // Attention in bf16 widens its operands and results; emulated products widen theirs.
  const std::int64_t widened = dtype == tensor::DType::BF16 ? 4 * batch.tokens * 7 * o.hidden : 0;
  const bool emulated = dtype == tensor::DType::BF16 && ops::bf16_support() == ops::Bf16Support::Emulated;
  const std::int64_t products = emulated ? 4 * rows * (o.hidden + std::max(o.intermediate, 3 * o.hidden)) : 0;
  const std::int64_t attention = gradient + branch + gradient + projected + std::max(widened, products);
  const std::int64_t feed_forward = gradient + branch + inner + products;
  const std::int64_t logit_row = o.vocabulary * (dtype == tensor::DType::BF16 ? (emulated ? 12 : 6) : 4);
  const std::int64_t block =
      std::min(padded(batch.predictions), std::max<std::int64_t>(64, nn::MaskedLmHead::kLogitBytes / 4 / o.vocabulary));
  return std::max({attention, feed_forward, block * logit_row});
}

}  // namespace

double forward_flops(const StructBertOptions& o, const BatchShape& batch) {
  const auto hidden = static_cast<double>(o.hidden);
  const double layers =
      static_cast<double>(o.layers) * (static_cast<double>(batch.tokens) * 2.0 * static_cast<double>(layer_weights(o)) +
                                       static_cast<double>(batch.token_pairs) * 4.0 * hidden);
  const double masked =
      static_cast<double>(batch.predictions) * 2.0 * hidden * static_cast<double>(o.hidden + o.vocabulary);
  const double sentence =
      static_cast<double>(batch.sequences) * 2.0 * hidden * static_cast<double>(o.hidden + o.sentence_classes);
  return layers + masked + sentence;
}

double training_flops(const StructBertOptions& options, const BatchShape& batch) {
  return 3.0 * forward_flops(options, batch);
}

std::int64_t parameter_count(const StructBertOptions& o) {
  const std::int64_t norm = 2 * o.hidden;
  const std::int64_t embeddings = (o.vocabulary + o.positions + o.segments) * o.hidden + norm;
  const std::int64_t layer = layer_weights(o) + 4 * o.hidden + o.intermediate + o.hidden + 2 * norm;
  const std::int64_t dense = o.hidden * o.hidden + o.hidden;
  const std::int64_t heads = dense + o.vocabulary + dense + norm + o.sentence_classes * (o.hidden + 1);
  return embeddings + o.layers * layer + heads;
}

MemoryEstimate estimate_memory(const StructBertOptions& options, const BatchShape& batch) {
  const tensor::DType dtype = options.precision == Precision::BF16 ? tensor::DType::BF16 : tensor::DType::F32;
  // Two bf16 copies of two bytes where native, one f32 copy where emulated: four bytes a weight either way.
  return {.parameters = 4 * parameter_count(options),
          .weight_copies = dtype == tensor::DType::BF16 ? 4 * matrix_weights(options) : 0,
          .activations = kept_bytes(options, batch, dtype),
          .scratch = scratch_bytes(options, batch, dtype)};
}

}  // namespace eflops::models
