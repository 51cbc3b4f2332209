#pragma once

#include <cstdint>

namespace eflops::kernels {

/// A row-major matrix inside a buffer: row r starts at element r * stride. All kernels of this module accept any
/// alignment and any size >= 0; their results do not depend on the number of threads or on where an element stands.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  ///< elements between the starts of two rows; 0 means columns

  std::int64_t row_stride() const { return stride == 0 ? columns : stride; }
};

}  // namespace eflops::kernels
