#include "kernels/bias.h"
#include "kernels/convert.h"
#include "ops/linear_path.h"

namespace eflops::ops {
namespace {

using tensor::Shape;

/// The bf16 numerics of AVX512-BF16 and AMX on a CPU without them: exact products of bf16 values, summed in f32.
class EmulatedPath final : public Linear::Path {
 public:
  explicit EmulatedPath(const LinearShape& shape) : Path(shape, DType::BF16) {}

  void forward(const Tensor& x, const LinearWeights& weights, const Tensor& y, Arena& scratch) override {
    const auto [inputs, outputs] = shape();
    const tensor::ArenaScope scope(scratch);
    const Tensor source = widened(x, scratch);
    const Tensor sum = y.dtype() == DType::F32 ? y : scratch.allocate(y.shape(), DType::F32);
    gemm_f32({.m = x.rows(), .n = outputs, .k = inputs}, {.data = source.data<float>(), .stride = x.columns()},
             {.data = rounded(weights), .stride = inputs, .transpose = Transpose::Yes},
             {.data = sum.data<float>(), .stride = y.columns()});
    if (weights.bias != nullptr)
      kernels::add_bias(sum.data<float>(), weights.bias, {.rows = y.rows(), .columns = outputs, .stride = y.columns()});
    if (y.dtype() == DType::BF16) kernels::to_bf16(sum.data<float>(), y.data<bf16>(), y.elements());
  }

  void backward_data(const Tensor& d_y, const LinearWeights& weights, const Tensor& d_x, Accumulate accumulate,
                     Arena& scratch) override {
    const auto [inputs, outputs] = shape();
    const tensor::ArenaScope scope(scratch);
    const Tensor gradient = widened(d_y, scratch);
    const Tensor sum =
        accumulate == Accumulate::Yes ? widened(d_x, scratch) : scratch.allocate(d_x.shape(), DType::F32);
    gemm_f32({.m = d_y.rows(), .n = inputs, .k = outputs}, {.data = gradient.data<float>(), .stride = d_y.columns()},
             {.data = rounded(weights), .stride = inputs},
             {.data = sum.data<float>(), .stride = d_x.columns(), .accumulate = accumulate});
    kernels::to_bf16(sum.data<float>(), d_x.data<bf16>(), d_x.elements());
  }

  void backward_weights(const Tensor& x, const Tensor& d_y, float* d_weight, Arena& scratch) override {
    const auto [inputs, outputs] = shape();
    const tensor::ArenaScope scope(scratch);
    const Tensor source = widened(x, scratch);
    const Tensor gradient = widened(d_y, scratch);
    gemm_f32({.m = outputs, .n = inputs, .k = x.rows()},
             {.data = gradient.data<float>(), .stride = d_y.columns(), .transpose = Transpose::Yes},
             {.data = source.data<float>(), .stride = x.columns()},
             {.data = d_weight, .stride = inputs, .accumulate = Accumulate::Yes});
  }

  std::string implementation_names() const override { return "dnnl_sgemm on rounded bf16"; }

 private:
  static Tensor widened(const Tensor& matrix, Arena& scratch) {
    const Tensor wide = scratch.allocate(matrix.shape(), DType::F32);
    kernels::to_float(matrix.data<bf16>(), wide.data<float>(), matrix.elements());
    return wide;
  }

  /// The weights rounded to bf16, as f32; made anew when their version changes.
  const float* rounded(const LinearWeights& weights) {
    const std::int64_t count = shape().inputs * shape().outputs;
    if (copy_of_ != weights.weight || version_ != weights.version) {
      if (copy_.empty()) copy_ = Tensor(Shape{count}, DType::F32);
      const Tensor narrow(Shape{count}, DType::BF16);
      kernels::to_bf16(weights.weight, narrow.data<bf16>(), count);
      kernels::to_float(narrow.data<bf16>(), copy_.data<float>(), count);
      copy_of_ = weights.weight;
      version_ = weights.version;
    }
    return copy_.data<float>();
  }

  Tensor copy_;
  const float* copy_of_ = nullptr;
  std::uint64_t version_ = 0;
};

}  // namespace

std::unique_ptr<Linear::Path> make_emulated_path(const LinearShape& shape) {
  return std::make_unique<EmulatedPath>(shape);
}

}  // namespace eflops::ops
