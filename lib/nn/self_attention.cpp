#include "nn/self_attention.h"

namespace eflops::nn {
namespace {

std::vector<std::string> qkv_names(const std::string& layer) {
  std::vector<std::string> names;
  for (const char* part : {"query", "key", "value"}) names.push_back(layer + ".attention.self." + part);
  return names;
}

}  // namespace

SelfAttention::SelfAttention(ParameterStore& store, const EncoderLayerOptions& options)
    : options_(options),
      qkv_(store, {.names = qkv_names(options.name),
                   .inputs = options.width,
                   .outputs = 3 * options.width,
                   .dtype = options.dtype}),
      attention_({.heads = options.heads,
                  .head_size = options.width / options.heads,
                  .dropout = static_cast<float>(options.attention_dropout),
                  .salt = options.salt}),
      output_(store, {.names = {options.name + ".attention.output.dense"},
                      .inputs = options.width,
                      .outputs = options.width,
                      .dtype = options.dtype}),
      norm_(store, {.norm = {.name = options.name + ".attention.output.LayerNorm",
                             .width = options.width,
                             .epsilon = options.epsilon},
                    .dropout = options.dropout,
                    .salt = options.salt + kSaltsPerLayer - 2}) {}

ops::AttentionBatch SelfAttention::batch(const Pass& pass) const {
  const bool drops = pass.trains() && options_.attention_dropout > 0.0;
  return {.offsets = pass.offsets, .row_keys = drops ? pass.row_keys.data() : nullptr};
}

void SelfAttention::forward(const Tensor& x, const Tensor& y, const Pass& pass) {
  const std::int64_t rows = x.rows();
  const std::int64_t stride = ops::row_stride(3 * options_.width, options_.dtype);
  const Tensor projected = pass.arena().allocate_rows({rows, stride}, options_.dtype);
  const Tensor context = pass.arena().allocate_rows(x.shape(), options_.dtype);
  const Tensor sum = pass.arena().allocate_rows(x.shape(), options_.dtype);
  qkv_.multiply(x, Linear::Bias::Add, projected, pass);
  attention_.forward(projected, batch(pass), context, pass.scratch);
  output_.multiply(context, Linear::Bias::LeaveOut, sum, pass);
  norm_.forward({.x = sum, .bias = output_.bias(), .residual = x}, y, pass);
  if (!pass.trains()) return;
  x_ = x;
  projected_ = projected;
  context_ = context;
}

void SelfAttention::backward(const Tensor& d_y, const Pass& pass) {
  const tensor::ArenaScope scope(pass.scratch);
  const Tensor d_sum = norm_.backward(d_y, output_.d_bias(), pass);
  output_.backward_parameters(context_, d_sum, Linear::Bias::LeaveOut, pass);
  const Tensor d_context = pass.scratch.allocate_rows(context_.shape(), options_.dtype);
  output_.backward_data(d_sum, d_context, Accumulate::No, pass);
  const Tensor d_projected = pass.scratch.allocate_rows(projected_.shape(), options_.dtype);
  attention_.backward(projected_, d_context, batch(pass), d_projected, pass.scratch);
  qkv_.backward_parameters(x_, d_projected, Linear::Bias::Add, pass);
  qkv_.backward_data(d_projected, d_y, Accumulate::Yes, pass);
  x_ = projected_ = context_ = {};
}

void SelfAttention::visit_parameters(const ParameterVisitor& visit) const {
  qkv_.visit_parameters(visit);
  output_.visit_parameters(visit);
  norm_.visit_parameters(visit);
}

}  // namespace eflops::nn
