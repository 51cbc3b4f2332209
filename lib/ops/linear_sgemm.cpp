#include "kernels/bias.h"
#include "ops/linear_path.h"

namespace eflops::ops {
namespace {

class SgemmPath final : public Linear::Path {
 public:
  explicit SgemmPath(const LinearShape& shape) : Path(shape, DType::F32) {}

  void forward(const Tensor& x, const LinearWeights& weights, const Tensor& y, Arena&) override {
    const auto [inputs, outputs] = shape();
    auto* out = y.data<float>();
    gemm_f32({.m = x.rows(), .n = outputs, .k = inputs}, {.data = x.data<float>(), .stride = x.columns()},
             {.data = weights.weight, .stride = inputs, .transpose = Transpose::Yes},
             {.data = out, .stride = y.columns()});
    if (weights.bias != nullptr)
      kernels::add_bias(out, weights.bias, {.rows = y.rows(), .columns = outputs, .stride = y.columns()});
  }

  void backward_data(const Tensor& d_y, const LinearWeights& weights, const Tensor& d_x, Accumulate accumulate,
                     Arena&) override {
    const auto [inputs, outputs] = shape();
    gemm_f32({.m = d_y.rows(), .n = inputs, .k = outputs}, {.data = d_y.data<float>(), .stride = d_y.columns()},
             {.data = weights.weight, .stride = inputs},
             {.data = d_x.data<float>(), .stride = d_x.columns(), .accumulate = accumulate});
  }

  void backward_weights(const Tensor& x, const Tensor& d_y, float* d_weight, Arena&) override {
    const auto [inputs, outputs] = shape();
    gemm_f32({.m = outputs, .n = inputs, .k = x.rows()},
             {.data = d_y.data<float>(), .stride = d_y.columns(), .transpose = Transpose::Yes},
             {.data = x.data<float>(), .stride = x.columns()},
             {.data = d_weight, .stride = inputs, .accumulate = Accumulate::Yes});
  }

  std::string implementation_names() const override { return "dnnl_sgemm"; }
};

}  // namespace

std::unique_ptr<Linear::Path> make_sgemm_path(const LinearShape& shape) { return std::make_unique<SgemmPath>(shape); }

}  // namespace eflops::ops
