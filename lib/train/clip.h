#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "nn/parameter_store.h"

namespace eflops::train {

/// The gradient of one step, over all parameters.
struct GradientReport {
  double norm = 0;             ///< Euclidean norm before clipping
  std::string nonfinite = {};  ///< name of the first parameter whose gradient holds NaN or Inf; "" when all is finite
};

/// Norm of a flat gradient buffer laid out as `parameters`: f64 sums over blocks of 4,096 elements, added in index
/// order (DESIGN D8), so it depends neither on threads nor on ranks.
GradientReport measure_gradients(const nn::ParameterStore& parameters, std::span<const float> gradients);

/// The factor that brings `norm` down to `max_norm`: max_norm / norm where norm is larger, else 1 (TensorFlow's rule;
/// PyTorch adds 1e-6 to the denominator).
double clip_scale(double norm, double max_norm);

}  // namespace eflops::train
