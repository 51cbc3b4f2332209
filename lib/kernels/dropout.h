#pragma once

#include <cstdint>

#include "base/bfloat16.h"
#include "kernels/shape.h"

namespace eflops::kernels {

/// Counter-based dropout (DESIGN D7): whether element (row, column) is dropped is a pure function of (row_keys[row],
/// salt, column), so backward recomputes the mask and nothing is stored. The rule, with philox() of base/random.h:
///
///   words = philox({8 * (column / 64) + column % 8, 0, low32(salt), high32(salt)}, {low32(key), high32(key)})
///   half  = (column % 64) / 8                       // 0..7: eight 16-bit draws of one call serve eight columns 8
///   apart draw  = words[half / 2] >> (16 * (half % 2)) & 0xFFFF kept  = draw >= nearbyint(probability * 65536)
///
/// A kept element is multiplied by 1 / (1 - probability), a dropped one by 0 (so NaN and Inf show even where dropped).
struct Dropout {
  float probability = 0.0F;                 ///< in [0, 1); 0 switches it off and leaves row_keys unread
  std::uint64_t salt = 0;                   ///< the place in the model: layer, site, head
  const std::uint64_t* row_keys = nullptr;  ///< one key a row: seed, step, global sample, position
};

/// y[r, c] = x[r, c] * mask[r, c] / (1 - p). T is float or bf16; x and y share `shape`; y may be x.
template <typename T>
void dropout_forward(const T* x, T* y, MatrixShape shape, const Dropout& dropout);

/// d_x[r, c] = d_y[r, c] * mask[r, c] / (1 - p); d_x may be d_y.
template <typename T>
void dropout_backward(const T* d_y, T* d_x, MatrixShape shape, const Dropout& dropout) {
  dropout_forward(d_y, d_x, shape, dropout);
}

}  // namespace eflops::kernels
