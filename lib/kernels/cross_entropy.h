#pragma once

#include <cstdint>

#include "kernels/shape.h"

namespace eflops::kernels {

inline constexpr std::int32_t kIgnoredLabel = -100;  ///< a row without a target: no loss, no gradient, not counted

/// Sums over the rows with a label, in row order, in double.
struct CrossEntropyTotals {
  double loss = 0.0;         ///< NaN or Inf if a row's is
  std::int64_t counted = 0;  ///< rows with a label
  std::int64_t correct = 0;  ///< rows whose argmax is the label
};

/// Where results of single rows go; null means not wanted.
struct CrossEntropyRows {
  double* loss = nullptr;          ///< -log softmax(logits)[label]; 0 for an ignored row
  std::int32_t* argmax = nullptr;  ///< index of the largest logit, the first of equals; the first NaN if there is one
};

/// Softmax cross-entropy of each row with its label in [0, columns) or kIgnoredLabel (else InternalError).
CrossEntropyTotals cross_entropy(const float* logits, MatrixShape shape, const std::int32_t* labels,
                                 const CrossEntropyRows& rows = {});

/// The same, and in place logits = (softmax(logits) - onehot(label)) * gradient_scale; zero for an ignored row.
CrossEntropyTotals cross_entropy_with_gradient(float* logits, MatrixShape shape, const std::int32_t* labels,
                                               float gradient_scale, const CrossEntropyRows& rows = {});

}  // namespace eflops::kernels
