#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tensor/tensor.h"

namespace eflops::ops {

/// Label of a row that has no target.
inline constexpr std::int32_t kIgnoredLabel = -100;

/// Results of single rows, each as long as the logits have rows.
struct RowResults {
  std::span<double> loss;          ///< -log p(label); 0 for an ignored row
  std::span<std::int32_t> argmax;  ///< the most probable class
};

/// Softmax cross-entropy of f32 logits [R, >= classes] with i32 labels [R]; returns the sum of -log p over labelled
/// rows. With a gradient scale, logits become scale·(p - onehot) in place.
double cross_entropy(const tensor::Tensor& logits, std::int64_t classes, std::span<const std::int32_t> labels,
                     std::optional<float> gradient_scale, const RowResults& rows);

}  // namespace eflops::ops
