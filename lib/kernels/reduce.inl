// Formats of elements and operations on them, which all reductions share; toggling guard as in simd.inl.
#if defined(EFLOPS_KERNELS_REDUCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef EFLOPS_KERNELS_REDUCE_INL
#undef EFLOPS_KERNELS_REDUCE_INL
#else
#define EFLOPS_KERNELS_REDUCE_INL
#endif

#include "base/float16.h"
#include "kernels/reduce.h"
#include "kernels/simd.inl"
#include "kernels/stream.h"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {

/// Elements that are computed as they are stored. A format says how elements become lanes, and which bits they are
/// stored as.
template <typename T>
struct Plain {
  using Stored = T;
  using D = hn::ScalableTag<T>;
  using Bits = D;
  static HWY_INLINE hn::Vec<D> load(const T* p) { return hn::LoadU(D(), p); }
  static HWY_INLINE hn::Vec<Bits> bits(hn::Vec<D> v) { return v; }
};

/// Elements of 16 bits that are computed in float.
template <typename Half>
struct Widened;

template <>
struct Widened<bf16> {
  using Stored = bf16;
  using D = Tag;
  using Bits = HalfTag;
  static HWY_INLINE Vector load(const bf16* p) { return kernels::HWY_NAMESPACE::load(Whole{}, p); }
  static HWY_INLINE hn::Vec<Bits> bits(Vector v) { return bf16_bits(v); }
};

template <>
struct Widened<f16> {
  using Stored = f16;
  using D = Tag;
  using Bits = HalfTag;
  static constexpr bool kByHand = HWY_TARGET == HWY_SCALAR;  // Highway's own conversion there does not round to even
  static HWY_INLINE Vector load(const f16* p) {
    if constexpr (kByHand) return hn::Set(Tag(), to_float(*p));
    const hn::Rebind<hwy::float16_t, Tag> half;
    return hn::PromoteTo(Tag(), hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(p)));
  }
  static HWY_INLINE hn::Vec<Bits> bits(Vector v) {
    if constexpr (kByHand) return hn::Set(Bits(), to_f16(hn::GetLane(v)).bits);
    return hn::BitCast(Bits(), hn::DemoteTo(hn::Rebind<hwy::float16_t, Tag>(), v));
  }
};

/// Past the caches `p` must be aligned to a vector.
template <class Format, Store kStore = Store::Cached, class V>
HWY_INLINE void store(V v, typename Format::Stored* p) {
  const typename Format::Bits d;
  auto* target = reinterpret_cast<hn::TFromD<typename Format::Bits>*>(p);
  if constexpr (kStore == Store::Streaming) {
    hn::Stream(Format::bits(v), d, target);
  } else {
    hn::StoreU(Format::bits(v), d, target);
  }
}

struct Add {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Add(a, b);
  }
};

struct Multiply {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    using T = hn::TFromD<D>;
    if constexpr (sizeof(T) == 4 || hwy::IsFloat<T>()) {
      return hn::Mul(a, b);
    } else {  // no such instruction for all sets: the compiler's loop, on unsigned numbers, which wrap
      using U = std::make_unsigned_t<T>;
      HWY_ALIGN T x[hn::MaxLanes(D())];
      HWY_ALIGN T y[hn::MaxLanes(D())];
      hn::Store(a, d, x);
      hn::Store(b, d, y);
      for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
        x[i] = static_cast<T>(static_cast<U>(static_cast<U>(x[i]) * static_cast<U>(y[i])));
      }
      return hn::Load(d, x);
    }
  }
};

/// What min and max share: equal zeros of different sign are joined bit by bit, and a NaN wins.
template <class D, class V>
HWY_INLINE V settled(V a, V b, V zeros, V chosen) {
  const V ordered = hn::IfThenElse(hn::Eq(a, b), zeros, chosen);
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), ordered);
}

struct Least {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      return settled<D>(a, b, hn::Or(a, b), hn::Min(a, b));
    } else {
      return hn::Min(a, b);
    }
  }
};

struct Greatest {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      return settled<D>(a, b, hn::And(a, b), hn::Max(a, b));
    } else {
      return hn::Max(a, b);
    }
  }
};

/// Calls f(Format()) with the format of the elements.
template <class F>
void with_format(Element element, F f) {
  switch (element) {
    case Element::F32:
      return f(Plain<float>());
    case Element::F64:
      return f(Plain<double>());
    case Element::BF16:
      return f(Widened<bf16>());
    case Element::F16:
      return f(Widened<f16>());
    case Element::I8:
      return f(Plain<std::int8_t>());
    case Element::U8:
      return f(Plain<std::uint8_t>());
    case Element::I32:
      return f(Plain<std::int32_t>());
    case Element::U32:
      return f(Plain<std::uint32_t>());
    case Element::I64:
      return f(Plain<std::int64_t>());
    case Element::U64:
      return f(Plain<std::uint64_t>());
  }
}

/// Calls f(Operation()) with what joins two elements; an average adds.
template <class F>
void with_operation(Reduction reduction, F f) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Average:
      return f(Add());
    case Reduction::Product:
      return f(Multiply());
    case Reduction::Min:
      return f(Least());
    case Reduction::Max:
      return f(Greatest());
  }
}

}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
