#include "train/optimizer.h"

#include <cmath>

#include "base/error.h"
#include "kernels/norm.h"
#include "kernels/optimizer.h"

namespace eflops::train {

void OptimizerOptions::visit_fields(OptionVisitor& v) {
  v("kind", kind, "adamw, or lamb for very large batches");
  v("beta1", beta1, "decay of the first moment", {.min = 0, .max = 0.999999, .aliases = {"adam_beta1"}});
  v("beta2", beta2, "decay of the second moment", {.min = 0, .max = 0.999999, .aliases = {"adam_beta2"}});
  v("epsilon", epsilon, "added to the root of the second moment",
    {.min = 1e-30, .max = 1, .aliases = {"adam_epsilon"}});
  v("weight_decay", weight_decay, "decoupled decay, multiplied by the learning rate", {.min = 0});
  v("bias_correction", bias_correction, "divide the moments by 1 - beta^t; false: as Google's BERT");
  v("decay_exclusion", decay_exclusion, "no decay (and no LAMB ratio) for biases and LayerNorm");
  v("clip", clip, "scale gradients down to max_grad_norm: over all parameters, each tensor by itself, or not");
  v("max_grad_norm", max_grad_norm, "largest norm that is not clipped; 0: clip nothing", {.min = 0});
}

Optimizer::Optimizer(const OptimizerOptions& options, nn::ParameterStore& parameters)
    : options_(options),
      parameters_(parameters),
      m_(tensor::Tensor::zeros({parameters.size()}, tensor::DType::F32)),
      v_(tensor::Tensor::zeros({parameters.size()}, tensor::DType::F32)) {
  if (options_.max_grad_norm == 0) options_.clip = ClipScope::Off;
}

GradientReport Optimizer::measure(std::span<const float> gradients) {
  GradientReport report = measure_gradients(parameters_, gradients);
  measured_ = gradients.data();
  norm_ = report.norm;
  return report;
}

void Optimizer::update(std::span<float> gradients, double rate) {
  EFLOPS_CHECK(measured_ == gradients.data() && std::ssize(gradients) == parameters_.size(), "gradients not measured");
  EFLOPS_CHECK(std::isfinite(norm_), "gradient norm {}", norm_);
  measured_ = nullptr;
  ++updates_;
  for (const Range& range : ranges()) update_range(range, gradients, rate);
}

/// What one kernel call may cover: a whole run of parameters that decay alike, or one tensor where its norm matters.
std::vector<Optimizer::Range> Optimizer::ranges() const {
  std::vector<Range> ranges;
  if (options_.kind == OptimizerKind::Lamb || options_.clip == ClipScope::PerTensor) {
    for (const nn::Parameter& parameter : parameters_.parameters())
      ranges.push_back({.offset = parameter.offset,
                        .count = parameter.elements(),
                        .decays = parameter.decays || !options_.decay_exclusion});
    return ranges;
  }
  for (const nn::ParameterStore::Segment& segment : parameters_.segments())
    ranges.push_back(
        {.offset = segment.offset, .count = segment.count, .decays = segment.decays || !options_.decay_exclusion});
  return ranges;
}

kernels::AdamStep Optimizer::step_for(const Range& range, std::span<const float> gradients, double rate) const {
  kernels::AdamStep step;
  step.learning_rate = static_cast<float>(rate);
  step.beta1 = static_cast<float>(options_.beta1);
  step.beta2 = static_cast<float>(options_.beta2);
  step.epsilon = static_cast<float>(options_.epsilon);
  step.weight_decay = range.decays ? static_cast<float>(options_.weight_decay) : 0.0F;
  if (options_.bias_correction) {
    // Of the rounded betas, which the kernel uses: 1 - 0.999F differs from 0.001 by 1.3e-5, and must cancel.
    const auto t = static_cast<double>(updates_);
    step.bias_correction1 = static_cast<float>(1.0 - std::pow(static_cast<double>(step.beta1), t));
    step.bias_correction2 = static_cast<float>(1.0 - std::pow(static_cast<double>(step.beta2), t));
  }
  if (options_.clip == ClipScope::Global)
    step.gradient_scale = static_cast<float>(clip_scale(norm_, options_.max_grad_norm));
  if (options_.clip == ClipScope::PerTensor) {
    const double norm = std::sqrt(kernels::sum_of_squares(gradients.data() + range.offset, range.count));
    step.gradient_scale = static_cast<float>(clip_scale(norm, options_.max_grad_norm));
  }
  return step;
}

void Optimizer::update_range(const Range& range, std::span<float> gradients, double rate) {
  float* own = gradients.data() + range.offset;
  const kernels::AdamStep step = step_for(range, gradients, rate);
  const kernels::AdamBuffers buffers{.values = parameters_.values().data() + range.offset,
                                     .gradients = own,
                                     .m = m_.values<float>().data() + range.offset,
                                     .v = v_.values<float>().data() + range.offset,
                                     .n = range.count};
  if (options_.kind == OptimizerKind::AdamW) {
    kernels::adamw_update(buffers, step);
    return;
  }
  const kernels::LambNorms norms = kernels::lamb_direction(buffers, step, own);
  const double ratio = range.decays ? kernels::lamb_trust_ratio(norms) : 1.0;
  kernels::lamb_apply(buffers.values, own, range.count, static_cast<float>(rate * ratio));
}

}  // namespace eflops::train
