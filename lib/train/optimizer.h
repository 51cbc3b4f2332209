#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/options.h"
#include "nn/parameter_store.h"
#include "tensor/tensor.h"
#include "train/clip.h"
#include "train/moments.h"

namespace eflops::kernels {
struct AdamStep;
}

namespace eflops::train {

enum class OptimizerKind { AdamW, Lamb };

/// Over what the norm is taken that gradients are clipped to.
enum class ClipScope {
  Global,     ///< all parameters together, after all shards are summed
  PerTensor,  ///< each parameter by itself (Alibaba's StructBERT)
  Off,
};

/// AdamW or LAMB. `bias_correction: false` is Google's BERT; `decay_exclusion: false` with `clip: per_tensor` is
/// Alibaba's.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::AdamW;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.01;
  bool bias_correction = true;
  bool decay_exclusion = true;
  ClipScope clip = ClipScope::Global;
  double max_grad_norm = 1.0;

  void visit_fields(OptionVisitor& v);
};

/// Moves the parameters of a store, one step at a time: measure(), then update() with the same gradients. Its state for
/// a checkpoint is moments() and updates(). Not thread-safe; results do not depend on the number of threads.
///   AdamW:  w -= rate (m' / (sqrt(v') + epsilon) + decay w)
///   LAMB:   w -= rate (|w| / |u|) u
/// where u is the bracket above and the ratio is 1 for parameters without decay or with a norm of 0,
/// m' = m / (1 - beta1^t), v' = v / (1 - beta2^t), or plain m and v without bias correction
/// (Loshchilov and Hutter, arXiv:1711.05101; You et al., arXiv:1904.00962).
class Optimizer {
 public:
  /// Keeps a reference to `parameters`, which must have been initialised.
  Optimizer(const OptimizerOptions& options, nn::ParameterStore& parameters);

  /// Norm of a step's gradients (parameters.size() floats), and which parameter's are NaN or infinite, if any.
  GradientReport measure(std::span<const float> gradients);

  /// One step at learning rate `rate`, with the gradients last measured, clipped as the options say; LAMB overwrites
  /// them. InternalError when they were not measured or not finite. The caller refreshes the store.
  void update(std::span<float> gradients, double rate);

  Moments moments() { return {.m = m_.values<float>(), .v = v_.values<float>()}; }
  /// Updates made so far: t of the bias correction is one more.
  std::int64_t updates() const { return updates_; }
  void set_updates(std::int64_t updates) { updates_ = updates; }

 private:
  struct Range {
    std::int64_t offset;
    std::int64_t count;
    bool decays;
  };

  std::vector<Range> ranges() const;
  kernels::AdamStep step_for(const Range& range, std::span<const float> gradients, double rate) const;
  void update_range(const Range& range, std::span<float> gradients, double rate);

  OptimizerOptions options_;
  nn::ParameterStore& parameters_;
  tensor::Tensor m_;
  tensor::Tensor v_;
  std::int64_t updates_ = 0;
  const float* measured_ = nullptr;  ///< the gradients whose norm this is
  double norm_ = 0;
};

}  // namespace eflops::train

template <>
struct eflops::Choices<eflops::train::OptimizerKind> {
  static constexpr std::pair<train::OptimizerKind, std::string_view> kEntries[] = {
      {train::OptimizerKind::AdamW, "adamw"}, {train::OptimizerKind::Lamb, "lamb"}};
};

template <>
struct eflops::Choices<eflops::train::ClipScope> {
  static constexpr std::pair<train::ClipScope, std::string_view> kEntries[] = {
      {train::ClipScope::Global, "global"},
      {train::ClipScope::PerTensor, "per_tensor"},
      {train::ClipScope::Off, "off"}};
};
