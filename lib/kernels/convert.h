#pragma once

#include <cstdint>

#include "base/bfloat16.h"

namespace eflops::kernels {

/// y[i] = x[i] rounded to nearest, ties to even; NaN stays a quiet NaN. Same bits as eflops::to_bf16 of
/// base/bfloat16.h.
void to_bf16(const float* x, bf16* y, std::int64_t n);

/// y[i] = x[i], exactly.
void to_float(const bf16* x, float* y, std::int64_t n);

}  // namespace eflops::kernels
