#pragma once

#include <cstdint>

#include "base/bfloat16.h"

namespace eflops::kernels {

// T is float or bf16; arithmetic is in float and rounded once. Outputs may be the very inputs, but not overlap in part.

/// out[i] = a[i] + b[i].
template <typename T>
void add(const T* a, const T* b, T* out, std::int64_t n);

/// out[i] += in[i].
template <typename T>
void add_into(T* out, const T* in, std::int64_t n);
/// out[i] += in[i], where `out` sums bf16 gradients in float.
void add_into(float* out, const bf16* in, std::int64_t n);

/// x[i] *= factor.
template <typename T>
void scale(T* x, float factor, std::int64_t n);

/// x[i] = value.
template <typename T>
void fill(T* x, float value, std::int64_t n);

/// out[i] = in[i], bit for bit; the buffers must not overlap.
template <typename T>
void copy(const T* in, T* out, std::int64_t n);

}  // namespace eflops::kernels
