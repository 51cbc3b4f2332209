#pragma once

#include <cstdint>

#include "base/bfloat16.h"

namespace eflops::kernels {

/// One step of Adam on a group of parameters that share these numbers.
struct AdamStep {
  float learning_rate = 0.0F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-6F;
  float weight_decay = 0.0F;
  float bias_correction1 = 1.0F;  ///< 1 - beta1^t; 1 as in Google BERT, which does not correct
  float bias_correction2 = 1.0F;  ///< 1 - beta2^t; 1 likewise
  float gradient_scale = 1.0F;    ///< multiplies the gradient first: clipping
};

/// Flat buffers of n elements; none may overlap another.
struct AdamBuffers {
  float* values = nullptr;
  const float* gradients = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  std::int64_t n = 0;
  bf16* copy = nullptr;  ///< receives the new values rounded to bf16; null if not wanted
};

/// AdamW in one pass (Loshchilov and Hutter, arXiv:1711.05101, with the decay inside the learning rate as Google BERT):
///   g = gradient_scale * gradient;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
///   value -= learning_rate * ((m / c1) / (sqrt(v / c2) + epsilon) + weight_decay * value)
void adamw_update(const AdamBuffers& buffers, const AdamStep& step);

/// Squared Euclidean norms in double (as sum_of_squares of kernels/norm.h).
struct LambNorms {
  double value_squared = 0.0;
  double update_squared = 0.0;
};

/// First half of LAMB (You et al., arXiv:1904.00962) for one tensor: moves m and v as above and writes
/// update = (m / c1) / (sqrt(v / c2) + epsilon) + weight_decay * value. values stay; learning_rate and copy are not
/// used. update may be the gradients' buffer.
LambNorms lamb_direction(const AdamBuffers& buffers, const AdamStep& step, float* update);

/// Second half: value -= rate * update, where rate = learning_rate * trust ratio. copy as in AdamBuffers, may be null.
void lamb_apply(float* values, const float* update, std::int64_t n, float rate, bf16* copy = nullptr);

/// ||value|| / ||update||, or 1 where either norm is 0.
double lamb_trust_ratio(const LambNorms& norms);

}  // namespace eflops::kernels
