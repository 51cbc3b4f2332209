#include "nn/linear.h"

#include "ops/activation.h"

namespace eflops::nn {

Linear::Linear(ParameterStore& store, const LinearOptions& options)
    : op_({.inputs = options.inputs, .outputs = options.outputs}, options.dtype) {
  const auto parts = std::ssize(options.names);
  EFLOPS_CHECK(parts > 0 && options.outputs % parts == 0, "{} outputs of {} parts", options.outputs, parts);
  const std::int64_t outputs = options.outputs / parts;
  const auto placement = [](const std::vector<ParameterRef>& before) {
    return before.empty() ? Placement::Aligned : Placement::Adjacent;
  };
  for (const std::string& name : options.names)
    weights_.push_back(
        store.add({.name = name + ".weight", .shape = {outputs, options.inputs}, .placement = placement(weights_)}));
  for (const std::string& name : options.names)
    biases_.push_back(store.add({.name = name + ".bias",
                                 .shape = {outputs},
                                 .init = Init::Zeros,
                                 .decays = false,
                                 .placement = placement(biases_)}));
}

ops::LinearWeights Linear::weights(Bias bias) const {
  return {.weight = weights_.front().value(),
          .bias = bias == Bias::Add ? biases_.front().value() : nullptr,
          .version = weights_.front().version()};
}

Tensor Linear::forward(const Tensor& x, const Pass& pass) {
  const Tensor y = pass.arena().allocate_rows({x.rows(), outputs()}, op_.dtype());
  multiply(x, Bias::Add, y, pass);
  if (pass.trains()) x_ = x;
  return y;
}

Tensor Linear::backward(const Tensor& d_y, const Pass& pass) {
  const Tensor d_x = pass.scratch.allocate_rows({d_y.rows(), inputs()}, op_.dtype());
  backward_data(d_y, d_x, Accumulate::No, pass);
  backward_parameters(x_, d_y, Bias::Add, pass);
  x_ = {};
  return d_x;
}

void Linear::multiply(const Tensor& x, Bias bias, const Tensor& y, const Pass& pass) {
  op_.forward(x, weights(bias), y, pass.scratch);
}

void Linear::backward_data(const Tensor& d_y, const Tensor& d_x, Accumulate accumulate, const Pass& pass) {
  op_.backward_data(d_y, weights(Bias::LeaveOut), d_x, accumulate, pass.scratch);
}

void Linear::backward_parameters(const Tensor& x, const Tensor& d_y, Bias bias, const Pass& pass) {
  op_.backward_weights(x, d_y, weights_.front().gradient(), pass.scratch);
  if (bias == Bias::Add) ops::bias_backward(d_y, outputs(), d_bias());
  visit_parameters([&](const ParameterRef& parameter) { pass.ready(parameter); });
}

void Linear::visit_parameters(const ParameterVisitor& visit) const {
  for (const ParameterRef& weight : weights_) visit(weight);
  for (const ParameterRef& bias : biases_) visit(bias);
}

}  // namespace eflops::nn
