#include "kernels/convert.h"

#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convert.cpp"
#include "hwy/foreach_target.h"
#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

template <typename From, typename To>
void convert(const From* x, To* y, std::int64_t n) {
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR { store(part, load(part, x + i), y + i); });
}

void float_to_bf16(const float* x, bf16* y, std::int64_t n) { convert(x, y, n); }
void bf16_to_float(const bf16* x, float* y, std::int64_t n) { convert(x, y, n); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(float_to_bf16);
HWY_EXPORT(bf16_to_float);

void to_bf16(const float* x, bf16* y, std::int64_t n) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(float_to_bf16)(x + begin, y + begin, end - begin);
  });
}

void to_float(const bf16* x, float* y, std::int64_t n) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(bf16_to_float)(x + begin, y + begin, end - begin);
  });
}

}  // namespace eflops::kernels
#endif
