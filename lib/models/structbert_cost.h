#pragma once

#include <cstdint>

#include "models/structbert_options.h"

namespace eflops::models {

/// What a batch costs depends on these numbers alone. For a plan: B sequences of n tokens have B·n tokens and B·n²
/// pairs.
struct BatchShape {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;
  std::int64_t token_pairs = 0;  ///< sum of squared sequence lengths
  std::int64_t predictions = 0;
};

/// Floating-point operations (a multiplication and an addition are two) of the matrix products of one forward pass,
/// those of attention and of the heads on what they predict included. Training takes three times as many: each product
/// has two in backward. What is computed twice to save memory counts once, as usual in MFU.
double forward_flops(const StructBertOptions& options, const BatchShape& batch);
double training_flops(const StructBertOptions& options, const BatchShape& batch);

/// Elements of all parameters.
std::int64_t parameter_count(const StructBertOptions& options);

/// Bytes of training, in RAM.
struct MemoryEstimate {
  std::int64_t parameters = 0;     ///< f32 values; each gradient buffer and each optimiser moment is as large
  std::int64_t weight_copies = 0;  ///< bf16 weights in oneDNN's layouts, forward and backward
  std::int64_t activations = 0;    ///< kept from forward to backward
  std::int64_t scratch = 0;        ///< largest temporary need beside them
};
MemoryEstimate estimate_memory(const StructBertOptions& options, const BatchShape& batch);

}  // namespace eflops::models
