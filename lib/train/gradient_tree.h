#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace eflops::train {

/// Sums the gradients of S micro-shards in the balanced binary tree over the shard index (DESIGN D8): level k adds
/// shards i and i xor 2^k, whatever number of ranks shares the work. Works as a binary counter: each shard writes into
/// a zeroed buffer, and two sums of 2^k shards merge as soon as both are there, so log2(S) + 1 buffers suffice. Not
/// thread-safe.
class GradientTree {
 public:
  /// `elements` of a flat gradient buffer; ConfigError unless `shards` is a power of two.
  GradientTree(std::int64_t elements, std::int64_t shards);

  /// Forgets the last step's sum.
  void reset();
  /// A zeroed buffer for the next shard's gradients; the same one until add_leaf(). More than S leaves are an
  /// InternalError.
  float* leaf();
  /// The leaf is complete: merges what can be merged.
  void add_leaf();
  /// The sum over all S shards, valid until reset(); the caller may overwrite it. InternalError before all are there.
  std::span<float> sum();

  /// Buffers made so far: after a step log2(S) + 1.
  std::int64_t buffers() const { return std::ssize(sums_) + std::ssize(spare_) + (leaf_.empty() ? 0 : 1); }

 private:
  std::int64_t elements_;
  std::int64_t shards_;
  std::int64_t leaves_ = 0;
  tensor::Tensor leaf_;                ///< handed out, not yet added
  std::vector<tensor::Tensor> sums_;   ///< of 2^k leaves for each bit k of leaves_, largest first
  std::vector<tensor::Tensor> spare_;  ///< free for the next leaf
};

}  // namespace eflops::train
