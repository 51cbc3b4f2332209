#pragma once

#include <cstdint>

namespace eflops::kernels {

inline constexpr std::int64_t kNormBlock = 4096;  ///< elements of one partial sum

/// sums[b] = sum of x[i]^2 over block b of kNormBlock elements, in double; ceil(n / kNormBlock) sums. Parts of a vector
/// that start at multiples of kNormBlock may be computed apart.
void block_sums_of_squares(const float* x, std::int64_t n, double* sums);

/// Sum of x[i]^2 in double: the block sums added in index order (DESIGN D8). NaN and Inf show in the result.
double sum_of_squares(const float* x, std::int64_t n);

/// The smallest i with x[i] NaN or infinite, or -1.
std::int64_t first_nonfinite(const float* x, std::int64_t n);

}  // namespace eflops::kernels
