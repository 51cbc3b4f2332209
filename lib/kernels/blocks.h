#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/parallel.h"

namespace eflops::kernels {

// Internal to the module: how its loops are cut into tasks.

/// Elements of one task of an elementwise loop: enough to pay for waking a thread.
inline constexpr std::int64_t kElementGrain = 16384;
/// Rows whose column sums are added up before they meet those of other rows; fixed, so that sums do not depend on
/// threads.
inline constexpr std::int64_t kRowBlock = 32;

inline std::int64_t row_grain(std::int64_t columns) {
  return std::max<std::int64_t>(1, kElementGrain / std::max<std::int64_t>(1, columns));
}

/// Column sums of a matrix whose rows are visited in parallel: each block of kRowBlock rows sums into its own `width`
/// floats; afterwards the blocks are added in row order.
class RowBlockSums {
 public:
  RowBlockSums(std::int64_t rows, std::int64_t width)
      : rows_(rows),
        width_(width),
        blocks_((rows + kRowBlock - 1) / kRowBlock),
        partials_(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(blocks_ * width))) {}

  /// Calls body(first_row, last_row, partial) for each block, `partial` being its zeroed sums.
  template <typename Body>
  void for_each_block(const Body& body) {
    const std::int64_t grain = kRowBlock * std::max<std::int64_t>(1, row_grain(width_) / kRowBlock);
    parallel_for(rows_, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; row += kRowBlock) {
        float* partial = block(row / kRowBlock);
        std::fill_n(partial, width_, 0.0F);
        body(row, std::min(end, row + kRowBlock), partial);
      }
    });
  }

  /// sums[i] += the total of entry first + i, for count entries. Consumes those entries.
  void add_to(float* sums, std::int64_t first, std::int64_t count) {
    if (blocks_ == 0) return;
    parallel_for(count, row_grain(blocks_), [&](std::int64_t begin, std::int64_t end) {
      float* total = block(0) + first;
      for (std::int64_t b = 1; b < blocks_; ++b) {
        const float* partial = block(b) + first;
        for (std::int64_t i = begin; i < end; ++i) total[i] += partial[i];
      }
      for (std::int64_t i = begin; i < end; ++i) sums[i] += total[i];
    });
  }

 private:
  float* block(std::int64_t index) { return partials_.get() + index * width_; }

  std::int64_t rows_;
  std::int64_t width_;
  std::int64_t blocks_;
  std::unique_ptr<float[]> partials_;
};

}  // namespace eflops::kernels
