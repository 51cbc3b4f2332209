#include "kernels/optimizer.h"

#include <cmath>
#include <vector>

#include "kernels/blocks.h"
#include "kernels/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer.cpp"
#include "hwy/foreach_target.h"
#include "kernels/norm.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

/// Moves m and v of the elements at i and returns (m / c1) / (sqrt(v / c2) + epsilon) + weight_decay * value.
struct Direction {
  explicit HWY_INLINE Direction(const AdamStep& step)
      : beta1(broadcast(step.beta1)),
        beta2(broadcast(step.beta2)),
        rest1(broadcast(1.0F - step.beta1)),
        rest2(broadcast(1.0F - step.beta2)),
        inverse1(broadcast(1.0F / step.bias_correction1)),
        inverse2(broadcast(1.0F / step.bias_correction2)),
        epsilon(broadcast(step.epsilon)),
        decay(broadcast(step.weight_decay)),
        gradient_scale(broadcast(step.gradient_scale)) {}

  template <typename Extent>
  HWY_INLINE Vector operator()(Extent part, const AdamBuffers& at, Vector value, std::int64_t i) const {
    const Vector g = hn::Mul(load(part, at.gradients + i), gradient_scale);
    const Vector m = hn::MulAdd(rest1, g, hn::Mul(beta1, load(part, at.m + i)));
    const Vector v = hn::MulAdd(hn::Mul(rest2, g), g, hn::Mul(beta2, load(part, at.v + i)));
    store(part, m, at.m + i);
    store(part, v, at.v + i);
    const Vector root = hn::Add(hn::Sqrt(hn::Mul(v, inverse2)), epsilon);
    return hn::MulAdd(decay, value, hn::Div(hn::Mul(m, inverse1), root));
  }

  Vector beta1, beta2, rest1, rest2, inverse1, inverse2, epsilon, decay, gradient_scale;
};

void adamw_range(const AdamBuffers& range, const AdamStep& step) {
  const Direction direction(step);
  const Vector rate = broadcast(step.learning_rate);
  for_each_vector(range.n, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector value = load(part, range.values + i);
    const Vector moved = hn::NegMulAdd(rate, direction(part, range, value, i), value);
    store(part, moved, range.values + i);
    if (range.copy != nullptr) store(part, moved, range.copy + i);
  });
}

LambNorms lamb_range(const AdamBuffers& range, const AdamStep& step, float* update) {
  const Direction direction(step);
  for_each_vector(range.n, [&](auto part, std::int64_t i) HWY_ATTR {
    store(part, direction(part, range, load(part, range.values + i), i), update + i);
  });
  return {.value_squared = square_sum(range.values, range.n), .update_squared = square_sum(update, range.n)};
}

void apply_range(float* values, const float* update, std::int64_t n, float rate, bf16* copy) {
  const Vector factor = broadcast(rate);
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector moved = hn::NegMulAdd(factor, load(part, update + i), load(part, values + i));
    store(part, moved, values + i);
    if (copy != nullptr) store(part, moved, copy + i);
  });
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {
namespace {

HWY_EXPORT(adamw_range);
HWY_EXPORT(lamb_range);
HWY_EXPORT(apply_range);

AdamBuffers part_of(const AdamBuffers& all, std::int64_t begin, std::int64_t end) {
  return {.values = all.values + begin,
          .gradients = all.gradients + begin,
          .m = all.m + begin,
          .v = all.v + begin,
          .n = end - begin,
          .copy = all.copy == nullptr ? nullptr : all.copy + begin};
}

}  // namespace

void adamw_update(const AdamBuffers& buffers, const AdamStep& step) {
  parallel_for(buffers.n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(adamw_range)(part_of(buffers, begin, end), step);
  });
}

LambNorms lamb_direction(const AdamBuffers& buffers, const AdamStep& step, float* update) {
  std::vector<LambNorms> blocks(static_cast<std::size_t>((buffers.n + kNormBlock - 1) / kNormBlock));
  parallel_for(buffers.n, kNormBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kNormBlock) {
      const AdamBuffers block = part_of(buffers, at, std::min(end, at + kNormBlock));
      blocks[static_cast<std::size_t>(at / kNormBlock)] = HWY_DYNAMIC_DISPATCH(lamb_range)(block, step, update + at);
    }
  });
  LambNorms total;
  for (const LambNorms& block : blocks) {
    total.value_squared += block.value_squared;
    total.update_squared += block.update_squared;
  }
  return total;
}

void lamb_apply(float* values, const float* update, std::int64_t n, float rate, bf16* copy) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    bf16* copy_range = copy == nullptr ? nullptr : copy + begin;
    HWY_DYNAMIC_DISPATCH(apply_range)(values + begin, update + begin, end - begin, rate, copy_range);
  });
}

double lamb_trust_ratio(const LambNorms& norms) {
  if (norms.value_squared == 0.0 || norms.update_squared == 0.0) return 1.0;
  return std::sqrt(norms.value_squared) / std::sqrt(norms.update_squared);
}

}  // namespace eflops::kernels
#endif
