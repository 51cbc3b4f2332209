#include "ops/linear.h"

#include "base/error.h"
#include "ops/engine.h"
#include "ops/linear_path.h"

namespace eflops::ops {
namespace {

std::unique_ptr<Linear::Path> make_path(const LinearShape& shape, DType dtype, LinearImplementation implementation) {
  EFLOPS_CHECK(shape.inputs > 0 && shape.outputs > 0, "linear {} -> {}", shape.inputs, shape.outputs);
  switch (implementation) {
    case LinearImplementation::Sgemm:
      EFLOPS_CHECK(dtype == DType::F32, "sgemm multiplies f32, not {}", tensor::dtype_name(dtype));
      return make_sgemm_path(shape);
    case LinearImplementation::Emulated:
      EFLOPS_CHECK(dtype == DType::BF16, "only bf16 is emulated, not {}", tensor::dtype_name(dtype));
      return make_emulated_path(shape);
    case LinearImplementation::Primitive:
      if (dtype == DType::BF16 && bf16_support() != Bf16Support::Native)
        throw ConfigError("this CPU has no bf16 instructions that oneDNN {} can use; bf16 runs emulated here",
                          onednn_version());
      return make_primitive_path(shape, dtype);
  }
  throw InternalError("unknown implementation");
}

}  // namespace

LinearImplementation default_implementation(DType dtype) {
  if (dtype == DType::F32) return LinearImplementation::Sgemm;
  return bf16_support() == Bf16Support::Native ? LinearImplementation::Primitive : LinearImplementation::Emulated;
}

std::string_view implementation_name(LinearImplementation implementation) {
  switch (implementation) {
    case LinearImplementation::Sgemm:
      return "sgemm";
    case LinearImplementation::Primitive:
      return "primitive";
    case LinearImplementation::Emulated:
      return "emulated";
  }
  return "?";
}

Linear::Linear(const LinearShape& shape, DType dtype) : Linear(shape, dtype, default_implementation(dtype)) {}
Linear::Linear(const LinearShape& shape, DType dtype, LinearImplementation implementation)
    : path_(make_path(shape, dtype, implementation)) {}
Linear::~Linear() = default;
Linear::Linear(Linear&&) noexcept = default;
Linear& Linear::operator=(Linear&&) noexcept = default;

const LinearShape& Linear::shape() const { return path_->shape(); }
DType Linear::dtype() const { return path_->dtype(); }
std::string Linear::implementation_names() const { return path_->implementation_names(); }

void Linear::forward(const Tensor& x, const LinearWeights& weights, const Tensor& y, Arena& scratch) {
  EFLOPS_CHECK(
      x.dtype() == dtype() && x.columns() >= shape().inputs && y.columns() >= shape().outputs && x.rows() == y.rows(),
      "x {}, y {}, linear {} -> {}", x.shape().to_string(), y.shape().to_string(), shape().inputs, shape().outputs);
  if (x.rows() > 0) path_->forward(x, weights, y, scratch);
}

void Linear::backward_data(const Tensor& d_y, const LinearWeights& weights, const Tensor& d_x, Accumulate accumulate,
                           Arena& scratch) {
  EFLOPS_CHECK(d_y.dtype() == dtype() && d_x.dtype() == dtype() && d_y.columns() >= shape().outputs &&
                   d_x.columns() >= shape().inputs && d_x.rows() == d_y.rows(),
               "d_y {}, d_x {}, linear {} -> {}", d_y.shape().to_string(), d_x.shape().to_string(), shape().inputs,
               shape().outputs);
  if (d_y.rows() > 0) path_->backward_data(d_y, weights, d_x, accumulate, scratch);
}

void Linear::backward_weights(const Tensor& x, const Tensor& d_y, float* d_weight, Arena& scratch) {
  EFLOPS_CHECK(x.dtype() == dtype() && d_y.dtype() == dtype() && x.columns() >= shape().inputs &&
                   d_y.columns() >= shape().outputs && x.rows() == d_y.rows(),
               "x {}, d_y {}, linear {} -> {}", x.shape().to_string(), d_y.shape().to_string(), shape().inputs,
               shape().outputs);
  if (x.rows() > 0) path_->backward_weights(x, d_y, d_weight, scratch);
}

std::int64_t row_stride(std::int64_t columns, DType dtype) {
  constexpr std::int64_t kConflict = 1024;
  const std::int64_t element = tensor::bytes_of(dtype);
  return columns * element % kConflict == 0 ? columns + tensor::kAlignment / element : columns;
}

}  // namespace eflops::ops
