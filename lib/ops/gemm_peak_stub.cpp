#include "base/error.h"
#include "ops/gemm_peak.h"

namespace eflops::ops {

GemmPeak measure_gemm_peak(const GemmPeakOptions& options) {
  throw ConfigError("the {} GEMM peak needs oneDNN, which this build leaves out (EFLOPS_LEARNING=OFF)",
                    tensor::dtype_name(options.dtype));
}

}  // namespace eflops::ops
