#pragma once

#include <cstdint>
#include <string>

#include "nn/pass.h"
#include "ops/layer_norm.h"

namespace eflops::nn {

using tensor::Tensor;

struct LayerNormOptions {
  std::string name;  ///< prefix of "weight" (gamma) and "bias" (beta)
  std::int64_t width = 0;
  double epsilon = 1e-12;
};

/// y = (x - mean)/sqrt(variance + epsilon)·gamma + beta over the last dimension.
class LayerNorm {
 public:
  LayerNorm(ParameterStore& store, const LayerNormOptions& options);

  /// Keeps x for backward.
  Tensor forward(const Tensor& x, const Pass& pass);
  /// Adds to the gradients; d_y becomes d_x in place and is returned.
  Tensor backward(const Tensor& d_y, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const;

  ops::NormParameters parameters() const;
  ops::NormGradients gradients() const;

 private:
  ParameterRef gamma_;
  ParameterRef beta_;
  float epsilon_;
  Tensor x_;
  ops::RowStatistics statistics_;
};

struct ResidualNormOptions {
  LayerNormOptions norm;
  double dropout = 0.0;
  std::uint64_t salt = 0;  ///< of the dropout
};

/// How each half of a Transformer block ends: y = LN(residual + dropout(x + bias)). The bias belongs to the layer that
/// made x.
class ResidualNorm {
 public:
  ResidualNorm(ParameterStore& store, const ResidualNormOptions& options);

  struct Inputs {
    Tensor x;  ///< consumed: backward finds the sum there
    const float* bias = nullptr;
    Tensor residual;
  };
  /// y must be neither x nor residual.
  void forward(const Inputs& inputs, const Tensor& y, const Pass& pass);
  /// d_y becomes the gradient of the residual, in place; returns the gradient of x (the same tensor where nothing
  /// drops, else one in scratch) and adds its column sums to d_bias.
  Tensor backward(const Tensor& d_y, float* d_bias, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const { norm_.visit_parameters(visit); }

 private:
  ops::Dropout dropout(const Pass& pass) const;

  LayerNorm norm_;
  float dropout_;
  std::uint64_t salt_;
  Tensor z_;
  ops::RowStatistics statistics_;
};

}  // namespace eflops::nn
