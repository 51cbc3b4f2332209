#include "nn/pooler.h"

#include "ops/activation.h"
#include "ops/rows.h"

namespace eflops::nn {

Pooler::Pooler(ParameterStore& store, const PoolerOptions& options)
    : dense_(store,
             {.names = {options.name}, .inputs = options.width, .outputs = options.width, .dtype = options.dtype}) {}

Tensor Pooler::forward(const Tensor& hidden, const Tensor& rows, const Pass& pass) {
  const Tensor first = pass.arena().allocate_rows({rows.elements(), hidden.columns()}, hidden.dtype());
  ops::gather_rows(hidden, rows, first);
  const Tensor pooled = dense_.forward(first, pass);
  ops::tanh_forward(pooled, pooled);
  if (pass.trains()) {
    rows_ = rows;
    pooled_ = pooled;
  }
  return pooled;
}

void Pooler::backward(const Tensor& d_pooled, const Tensor& d_hidden, const Pass& pass) {
  const tensor::ArenaScope scope(pass.scratch);
  ops::tanh_backward(pooled_, d_pooled);
  const Tensor d_first = dense_.backward(d_pooled, pass);
  ops::gather_rows_backward(d_first, rows_, d_hidden);
  rows_ = pooled_ = {};
}

}  // namespace eflops::nn
