#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace eflops::ops {

/// What to measure: square-like matrix products of `dtype` on `threads` threads for about `seconds`.
struct GemmPeakOptions {
  tensor::DType dtype = tensor::DType::F32;
  int threads = 1;
  double seconds = 1.0;
};

struct GemmPeak {
  double flops_per_second = 0.0;  ///< 2·m·n·k over the fastest repetition of the best shape
  std::int64_t m = 0, n = 0, k = 0;
  std::string implementation;          ///< what oneDNN ran
  std::vector<double> sample_seconds;  ///< every timed repetition of that shape
};

/// The most this library gets out of the machine in matrix products: the denominator of MFU. Sets the thread count
/// while it runs. ConfigError for bf16 on a CPU that would emulate it, and in a build without oneDNN;
/// CheckFailed when an element of the last timed product is not exact.
GemmPeak measure_gemm_peak(const GemmPeakOptions& options);

}  // namespace eflops::ops
