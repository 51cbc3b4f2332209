// Vector loads, stores and loops over float and bf16, shared by the kernels. Compiled once per instruction set: the
// guard toggles as Highway asks for, so `#pragma once` must not stand here.
#if defined(EFLOPS_KERNELS_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef EFLOPS_KERNELS_SIMD_INL
#undef EFLOPS_KERNELS_SIMD_INL
#else
#define EFLOPS_KERNELS_SIMD_INL
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/bfloat16.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

// Calls kernel name_f32 or name_bf16 of the instruction set in use, by the storage type T.
#ifndef EFLOPS_KERNELS_DISPATCH
#define EFLOPS_KERNELS_DISPATCH(T, name, ...)         \
  do {                                                \
    if constexpr (std::is_same_v<T, float>)           \
      HWY_DYNAMIC_DISPATCH(name##_f32)(__VA_ARGS__);  \
    else                                              \
      HWY_DYNAMIC_DISPATCH(name##_bf16)(__VA_ARGS__); \
  } while (false)
#endif

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<Tag>;
using UintTag = hn::RebindToUnsigned<Tag>;
using Vector = hn::Vec<Tag>;

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag())); }
HWY_INLINE Vector broadcast(float value) { return hn::Set(Tag(), value); }

/// How many lanes of a vector a loop body may touch: all, or the first `count`. Lanes beyond are loaded as zero, take
/// part in the same arithmetic and are not stored; so an element has the same bits in the middle of a row and at its
/// end.
struct Whole {};
struct Part {
  std::int64_t count;
};

HWY_INLINE Vector load(Whole, const float* p) { return hn::LoadU(Tag(), p); }
HWY_INLINE Vector load(Whole, const bf16* p) {
  const hn::Rebind<std::uint16_t, Tag> half;
  const auto bits = hn::PromoteTo(UintTag(), hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(p)));
  return hn::BitCast(Tag(), hn::ShiftLeft<16>(bits));
}
template <typename T>
HWY_INLINE Vector load(Part part, const T* p) {
  HWY_ALIGN T buffer[hn::MaxLanes(Tag())] = {};
  std::memcpy(buffer, p, static_cast<std::size_t>(part.count) * sizeof(T));
  return load(Whole{}, buffer);
}

HWY_INLINE void store(Whole, Vector v, float* p) { hn::StoreU(v, Tag(), p); }
/// The 16 bits that hold each lane rounded to bf16: to nearest, ties to even, as to_bf16 of base/bfloat16.h.
using HalfTag = hn::Rebind<std::uint16_t, Tag>;
HWY_INLINE hn::Vec<HalfTag> bf16_bits(Vector v) {
  const UintTag d;
  const auto bits = hn::BitCast(d, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1U));
  const auto rounded = hn::Add(bits, hn::Add(hn::Set(d, 0x7FFFU), odd));
  const auto quiet = hn::Or(bits, hn::Set(d, 0x00400000U));
  const auto upper = hn::ShiftRight<16>(hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(v)), quiet, rounded));
  return hn::DemoteTo(HalfTag(), hn::BitCast(IntTag(), upper));
}
HWY_INLINE void store(Whole, Vector v, bf16* p) {
  hn::StoreU(bf16_bits(v), HalfTag(), reinterpret_cast<std::uint16_t*>(p));
}
template <typename T>
HWY_INLINE void store(Part part, Vector v, T* p) {
  HWY_ALIGN T buffer[hn::MaxLanes(Tag())];
  store(Whole{}, v, buffer);
  std::memcpy(p, buffer, static_cast<std::size_t>(part.count) * sizeof(T));
}

/// Lanes that do not count become `other`.
HWY_INLINE Vector keep(Whole, Vector v, Vector) { return v; }
HWY_INLINE Vector keep(Part part, Vector v, Vector other) {
  return hn::IfThenElse(hn::FirstN(Tag(), static_cast<std::size_t>(part.count)), v, other);
}

/// Calls body(part, i) for i = 0, lanes, 2 lanes ... below n.
template <typename Body>
HWY_INLINE void for_each_vector(std::int64_t n, const Body& body) {
  const std::int64_t step = lanes();
  std::int64_t i = 0;
  for (; i + step <= n; i += step) body(Whole{}, i);
  if (i < n) body(Part{n - i}, i);
}

/// Sum over i of term(part, i), in four interleaved vectors that are added pairwise: a fixed order for a given n.
template <typename Term>
HWY_INLINE float sum_over(std::int64_t n, const Term& term) {
  const std::int64_t step = lanes();
  const Vector zero = hn::Zero(Tag());
  Vector s0 = zero;
  Vector s1 = zero;
  Vector s2 = zero;
  Vector s3 = zero;
  std::int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    s0 = hn::Add(s0, term(Whole{}, i));
    s1 = hn::Add(s1, term(Whole{}, i + step));
    s2 = hn::Add(s2, term(Whole{}, i + 2 * step));
    s3 = hn::Add(s3, term(Whole{}, i + 3 * step));
  }
  for (; i + step <= n; i += step) s0 = hn::Add(s0, term(Whole{}, i));
  if (i < n) s1 = hn::Add(s1, keep(Part{n - i}, term(Part{n - i}, i), zero));
  return hn::GetLane(hn::SumOfLanes(Tag(), hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

/// Maximum over i of term(part, i), NaN if any is NaN, -Inf for n = 0.
template <typename Term>
HWY_INLINE float max_over(std::int64_t n, const Term& term) {
  const Vector lowest = broadcast(-std::numeric_limits<float>::infinity());
  Vector best = lowest;
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    const Vector v = keep(part, term(part, i), lowest);
    best = hn::IfThenElse(hn::Or(hn::Gt(best, v), hn::IsNaN(best)), best, v);
  });
  HWY_ALIGN float values[hn::MaxLanes(Tag())];
  hn::Store(best, Tag(), values);
  float result = values[0];
  for (std::int64_t lane = 1; lane < lanes(); ++lane) {
    if (!(result > values[lane]) && result == result) result = values[lane];
  }
  return result;
}

}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
