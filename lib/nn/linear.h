#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/pass.h"
#include "ops/linear.h"

namespace eflops::nn {

using ops::Accumulate;
using tensor::DType;
using tensor::Tensor;

/// `names` are prefixes of "weight" and "bias"; several make one product whose matrices lie side by side, each with an
/// equal share of the outputs (query, key, value).
struct LinearOptions {
  std::vector<std::string> names;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  DType dtype = DType::F32;
};

/// Y = X·Wᵀ + b, X [T, K], Y [T, N].
class Linear {
 public:
  Linear(ParameterStore& store, const LinearOptions& options);

  /// Keeps x for backward.
  Tensor forward(const Tensor& x, const Pass& pass);
  /// Adds to the gradients; returns d_x in the scratch arena.
  Tensor backward(const Tensor& d_y, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const;

  // The parts, for blocks that fuse the bias with what follows and decide themselves what to keep.
  enum class Bias { Add, LeaveOut };
  void multiply(const Tensor& x, Bias bias, const Tensor& y, const Pass& pass);
  void backward_data(const Tensor& d_y, const Tensor& d_x, Accumulate accumulate, const Pass& pass);
  /// Weight gradients; the bias gradient too if `bias` is Add. All parameters are ready afterwards.
  void backward_parameters(const Tensor& x, const Tensor& d_y, Bias bias, const Pass& pass);
  const float* bias() const { return biases_.front().value(); }
  float* d_bias() const { return biases_.front().gradient(); }

  std::int64_t inputs() const { return op_.shape().inputs; }
  std::int64_t outputs() const { return op_.shape().outputs; }
  const ops::Linear& op() const { return op_; }

 private:
  ops::LinearWeights weights(Bias bias) const;

  ops::Linear op_;
  std::vector<ParameterRef> weights_;
  std::vector<ParameterRef> biases_;
  Tensor x_;
};

}  // namespace eflops::nn
