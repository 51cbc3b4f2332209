#include "ops/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>

#include "base/error.h"

namespace eflops::ops {

void gemm_f32(const GemmShape& shape, const GemmInput& a, const GemmInput& b, const GemmOutput& c) {
  if (shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) {
    if (c.accumulate == Accumulate::No)
      for (std::int64_t row = 0; row < shape.m; ++row) std::fill_n(c.data + row * c.stride, shape.n, 0.0F);
    return;
  }
  const auto letter = [](Transpose transpose) { return transpose == Transpose::Yes ? 'T' : 'N'; };
  const float beta = c.accumulate == Accumulate::Yes ? 1.0F : 0.0F;
  const dnnl_status_t status = dnnl_sgemm(letter(a.transpose), letter(b.transpose), shape.m, shape.n, shape.k, 1.0F,
                                          a.data, a.stride, b.data, b.stride, beta, c.data, c.stride);
  EFLOPS_CHECK(status == dnnl_success, "dnnl_sgemm {} x {} x {}: status {}", shape.m, shape.n, shape.k,
               static_cast<int>(status));
}

}  // namespace eflops::ops
