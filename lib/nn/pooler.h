#pragma once

#include "nn/linear.h"

namespace eflops::nn {

struct PoolerOptions {
  std::string name = "bert.pooler.dense";
  std::int64_t width = 0;
  DType dtype = DType::F32;
};

/// pooled = tanh(W·x + b) of chosen rows: [CLS] of each sequence.
class Pooler {
 public:
  Pooler(ParameterStore& store, const PoolerOptions& options);

  /// hidden [T, H], rows i32 [B] -> [B, H].
  Tensor forward(const Tensor& hidden, const Tensor& rows, const Pass& pass);
  /// Adds to the gradients and to the chosen rows of d_hidden; d_pooled is consumed.
  void backward(const Tensor& d_pooled, const Tensor& d_hidden, const Pass& pass);
  void visit_parameters(const ParameterVisitor& visit) const { dense_.visit_parameters(visit); }

 private:
  Linear dense_;
  Tensor rows_, pooled_;
};

}  // namespace eflops::nn
