#pragma once

#include <cstdint>

namespace eflops::ops {

enum class Transpose { No, Yes };
enum class Accumulate { No, Yes };

/// C is m x n, the products run over k.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

/// A row-major matrix inside a buffer; `stride` elements lie between the starts of two rows as stored.
struct GemmInput {
  const float* data = nullptr;
  std::int64_t stride = 0;
  Transpose transpose = Transpose::No;
};
struct GemmOutput {
  float* data = nullptr;
  std::int64_t stride = 0;
  Accumulate accumulate = Accumulate::No;
};

/// C = A·B, or C += A·B, in f32 through oneDNN. Uses all threads, or one when called inside parallel_for. Bits may
/// depend on the thread count where m and n are small beside k.
void gemm_f32(const GemmShape& shape, const GemmInput& a, const GemmInput& b, const GemmOutput& c);

}  // namespace eflops::ops
