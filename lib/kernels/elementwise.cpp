#include "kernels/elementwise.h"

#include <algorithm>

#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise.cpp"
#include "hwy/foreach_target.h"
#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

template <typename A, typename B>
void sum_of_two(const A* a, const B* b, A* out, std::int64_t n) {
  for_each_vector(n, [&](auto part, std::int64_t i)
                         HWY_ATTR { store(part, hn::Add(load(part, a + i), load(part, b + i)), out + i); });
}

template <typename T>
void scaled(T* x, float factor, std::int64_t n) {
  const Vector f = broadcast(factor);
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR { store(part, hn::Mul(load(part, x + i), f), x + i); });
}

void add_f32(const float* a, const float* b, float* out, std::int64_t n) { sum_of_two(a, b, out, n); }
void add_bf16(const bf16* a, const bf16* b, bf16* out, std::int64_t n) { sum_of_two(a, b, out, n); }
void add_bf16_to_float(const float* a, const bf16* b, float* out, std::int64_t n) { sum_of_two(a, b, out, n); }
void scale_f32(float* x, float factor, std::int64_t n) { scaled(x, factor, n); }
void scale_bf16(bf16* x, float factor, std::int64_t n) { scaled(x, factor, n); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(add_f32);
HWY_EXPORT(add_bf16);
HWY_EXPORT(add_bf16_to_float);
HWY_EXPORT(scale_f32);
HWY_EXPORT(scale_bf16);

template <typename T>
void add(const T* a, const T* b, T* out, std::int64_t n) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    EFLOPS_KERNELS_DISPATCH(T, add, a + begin, b + begin, out + begin, end - begin);
  });
}

template <typename T>
void add_into(T* out, const T* in, std::int64_t n) {
  add(out, in, out, n);
}

void add_into(float* out, const bf16* in, std::int64_t n) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(add_bf16_to_float)(out + begin, in + begin, out + begin, end - begin);
  });
}

template <typename T>
void scale(T* x, float factor, std::int64_t n) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    EFLOPS_KERNELS_DISPATCH(T, scale, x + begin, factor, end - begin);
  });
}

template <typename T>
void fill(T* x, float value, std::int64_t n) {
  T stored;
  if constexpr (std::is_same_v<T, float>) {
    stored = value;
  } else {
    stored = eflops::to_bf16(value);
  }
  parallel_for(n, kElementGrain,
               [&](std::int64_t begin, std::int64_t end) { std::fill_n(x + begin, end - begin, stored); });
}

template <typename T>
void copy(const T* in, T* out, std::int64_t n) {
  parallel_for(n, kElementGrain,
               [&](std::int64_t begin, std::int64_t end) { std::copy_n(in + begin, end - begin, out + begin); });
}

template void add(const float*, const float*, float*, std::int64_t);
template void add(const bf16*, const bf16*, bf16*, std::int64_t);
template void add_into(float*, const float*, std::int64_t);
template void add_into(bf16*, const bf16*, std::int64_t);
template void scale(float*, float, std::int64_t);
template void scale(bf16*, float, std::int64_t);
template void fill(float*, float, std::int64_t);
template void fill(bf16*, float, std::int64_t);
template void copy(const float*, float*, std::int64_t);
template void copy(const bf16*, bf16*, std::int64_t);

}  // namespace eflops::kernels
#endif
