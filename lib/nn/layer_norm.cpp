#include "nn/layer_norm.h"

namespace eflops::nn {
namespace {

ops::RowStatistics allocate_statistics(std::int64_t rows, const Pass& pass) {
  return {.mean = pass.arena().allocate({rows}, tensor::DType::F32),
          .rstd = pass.arena().allocate({rows}, tensor::DType::F32)};
}

}  // namespace

LayerNorm::LayerNorm(ParameterStore& store, const LayerNormOptions& options)
    : gamma_(
          store.add({.name = options.name + ".weight", .shape = {options.width}, .init = Init::Ones, .decays = false})),
      beta_(
          store.add({.name = options.name + ".bias", .shape = {options.width}, .init = Init::Zeros, .decays = false})),
      epsilon_(static_cast<float>(options.epsilon)) {}

Tensor LayerNorm::forward(const Tensor& x, const Pass& pass) {
  const Tensor y = pass.arena().allocate_rows(x.shape(), x.dtype());
  const ops::RowStatistics statistics = allocate_statistics(x.rows(), pass);
  ops::layer_norm_forward(x, parameters(), y, statistics);
  if (pass.trains()) {
    x_ = x;
    statistics_ = statistics;
  }
  return y;
}

Tensor LayerNorm::backward(const Tensor& d_y, const Pass& pass) {
  ops::layer_norm_backward(d_y, x_, parameters(), statistics_, gradients());
  x_ = {};
  statistics_ = {};
  visit_parameters([&](const ParameterRef& parameter) { pass.ready(parameter); });
  return d_y;
}

void LayerNorm::visit_parameters(const ParameterVisitor& visit) const {
  visit(gamma_);
  visit(beta_);
}

ops::NormParameters LayerNorm::parameters() const {
  return {.gamma = gamma_.value(), .beta = beta_.value(), .epsilon = epsilon_};
}

ops::NormGradients LayerNorm::gradients() const { return {.gamma = gamma_.gradient(), .beta = beta_.gradient()}; }

ResidualNorm::ResidualNorm(ParameterStore& store, const ResidualNormOptions& options)
    : norm_(store, options.norm), dropout_(static_cast<float>(options.dropout)), salt_(options.salt) {}

ops::Dropout ResidualNorm::dropout(const Pass& pass) const {
  if (!pass.trains() || dropout_ == 0.0F) return {};
  EFLOPS_CHECK(std::ssize(pass.row_keys) == pass.tokens(), "{} row keys of {} tokens", pass.row_keys.size(),
               pass.tokens());
  return {.probability = dropout_, .salt = salt_, .row_keys = pass.row_keys.data()};
}

void ResidualNorm::forward(const Inputs& inputs, const Tensor& y, const Pass& pass) {
  const ops::RowStatistics statistics = allocate_statistics(inputs.x.rows(), pass);
  ops::residual_norm_forward({.x = inputs.x,
                              .bias = inputs.bias,
                              .residual = inputs.residual,
                              .dropout = dropout(pass),
                              .norm = norm_.parameters(),
                              .y = y,
                              .statistics = statistics});
  if (pass.trains()) {
    z_ = inputs.x;
    statistics_ = statistics;
  }
}

Tensor ResidualNorm::backward(const Tensor& d_y, float* d_bias, const Pass& pass) {
  const ops::Dropout mask = dropout(pass);
  const Tensor d_x = mask.probability == 0.0F ? d_y : pass.scratch.allocate_rows(d_y.shape(), d_y.dtype());
  ops::residual_norm_backward({.d_y = d_y,
                               .z = z_,
                               .norm = norm_.parameters(),
                               .statistics = statistics_,
                               .dropout = mask,
                               .d_x = d_x,
                               .gradients = norm_.gradients(),
                               .d_bias = d_bias});
  z_ = {};
  statistics_ = {};
  norm_.visit_parameters([&](const ParameterRef& parameter) { pass.ready(parameter); });
  return d_x;
}

}  // namespace eflops::nn
