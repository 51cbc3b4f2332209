#pragma once

#include <memory>
#include <string>

#include "ops/linear.h"

namespace eflops::ops {

/// What the implementations of Linear share; see there for the contract.
class Linear::Path {
 public:
  Path(const LinearShape& shape, DType dtype) : shape_(shape), dtype_(dtype) {}
  virtual ~Path() = default;
  virtual void forward(const Tensor& x, const LinearWeights& weights, const Tensor& y, Arena& scratch) = 0;
  virtual void backward_data(const Tensor& d_y, const LinearWeights& weights, const Tensor& d_x, Accumulate accumulate,
                             Arena& scratch) = 0;
  virtual void backward_weights(const Tensor& x, const Tensor& d_y, float* d_weight, Arena& scratch) = 0;
  virtual std::string implementation_names() const = 0;

  const LinearShape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }

 private:
  LinearShape shape_;
  DType dtype_;
};

std::unique_ptr<Linear::Path> make_sgemm_path(const LinearShape& shape);
std::unique_ptr<Linear::Path> make_emulated_path(const LinearShape& shape);
std::unique_ptr<Linear::Path> make_primitive_path(const LinearShape& shape, DType dtype);

}  // namespace eflops::ops
