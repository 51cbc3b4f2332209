#include "kernels/tanh.h"

#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tanh.cpp"
#include "hwy/foreach_target.h"
#include "kernels/math.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

template <typename T>
void forward(const T* x, T* y, std::int64_t n) {
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR { store(part, tanh(load(part, x + i)), y + i); });
}

template <typename T>
void backward(const T* y, const T* d_y, T* d_x, std::int64_t n) {
  const Vector one = broadcast(1.0F);
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector value = load(part, y + i);
    store(part, hn::Mul(load(part, d_y + i), hn::NegMulAdd(value, value, one)), d_x + i);
  });
}

void tanh_f32(const float* x, float* y, std::int64_t n) { forward(x, y, n); }
void tanh_bf16(const bf16* x, bf16* y, std::int64_t n) { forward(x, y, n); }
void d_tanh_f32(const float* y, const float* d_y, float* d_x, std::int64_t n) { backward(y, d_y, d_x, n); }
void d_tanh_bf16(const bf16* y, const bf16* d_y, bf16* d_x, std::int64_t n) { backward(y, d_y, d_x, n); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(tanh_f32);
HWY_EXPORT(tanh_bf16);
HWY_EXPORT(d_tanh_f32);
HWY_EXPORT(d_tanh_bf16);

template <typename T>
void tanh_forward(const T* x, T* y, std::int64_t n) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    EFLOPS_KERNELS_DISPATCH(T, tanh, x + begin, y + begin, end - begin);
  });
}

template <typename T>
void tanh_backward(const T* y, const T* d_y, T* d_x, std::int64_t n) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    EFLOPS_KERNELS_DISPATCH(T, d_tanh, y + begin, d_y + begin, d_x + begin, end - begin);
  });
}

template void tanh_forward(const float*, float*, std::int64_t);
template void tanh_forward(const bf16*, bf16*, std::int64_t);
template void tanh_backward(const float*, const float*, float*, std::int64_t);
template void tanh_backward(const bf16*, const bf16*, bf16*, std::int64_t);

}  // namespace eflops::kernels
#endif
