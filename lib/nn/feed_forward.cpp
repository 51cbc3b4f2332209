#include "nn/feed_forward.h"

namespace eflops::nn {

FeedForward::FeedForward(ParameterStore& store, const EncoderLayerOptions& options)
    : options_(options),
      intermediate_(store, {.names = {options.name + ".intermediate.dense"},
                            .inputs = options.width,
                            .outputs = options.intermediate,
                            .dtype = options.dtype}),
      output_(store, {.names = {options.name + ".output.dense"},
                      .inputs = options.intermediate,
                      .outputs = options.width,
                      .dtype = options.dtype}),
      norm_(store,
            {.norm = {.name = options.name + ".output.LayerNorm", .width = options.width, .epsilon = options.epsilon},
             .dropout = options.dropout,
             .salt = options.salt + kSaltsPerLayer - 1}) {}

ops::BiasGelu FeedForward::activation(const Tensor& raw) const {
  return {.x = raw, .bias = intermediate_.bias(), .columns = options_.intermediate, .kind = options_.gelu};
}

void FeedForward::forward(const Tensor& x, const Tensor& y, const Pass& pass) {
  const std::int64_t stride = ops::row_stride(options_.intermediate, options_.dtype);
  const Tensor raw = pass.arena().allocate_rows({x.rows(), stride}, options_.dtype);
  const Tensor sum = pass.arena().allocate_rows(x.shape(), options_.dtype);
  intermediate_.multiply(x, Linear::Bias::LeaveOut, raw, pass);
  {
    const tensor::ArenaScope scope(pass.scratch);
    const Tensor active = pass.trains() ? pass.scratch.allocate_rows(raw.shape(), options_.dtype) : raw;
    ops::bias_gelu_forward(activation(raw), active);
    output_.multiply(active, Linear::Bias::LeaveOut, sum, pass);
  }
  norm_.forward({.x = sum, .bias = output_.bias(), .residual = x}, y, pass);
  if (!pass.trains()) return;
  x_ = x;
  raw_ = raw;
}

void FeedForward::backward(const Tensor& d_y, const Pass& pass) {
  const tensor::ArenaScope scope(pass.scratch);
  const Tensor d_sum = norm_.backward(d_y, output_.d_bias(), pass);
  const Tensor active = pass.scratch.allocate_rows(raw_.shape(), options_.dtype);
  ops::bias_gelu_forward(activation(raw_), active);
  output_.backward_parameters(active, d_sum, Linear::Bias::LeaveOut, pass);
  const Tensor& d_active = active;  // its content is used up: the gradient takes its place
  output_.backward_data(d_sum, d_active, Accumulate::No, pass);
  ops::bias_gelu_backward(activation(raw_), d_active, intermediate_.d_bias());
  intermediate_.backward_parameters(x_, d_active, Linear::Bias::LeaveOut, pass);
  intermediate_.backward_data(d_active, d_y, Accumulate::Yes, pass);
  x_ = raw_ = {};
}

void FeedForward::visit_parameters(const ParameterVisitor& visit) const {
  intermediate_.visit_parameters(visit);
  output_.visit_parameters(visit);
  norm_.visit_parameters(visit);
}

}  // namespace eflops::nn
