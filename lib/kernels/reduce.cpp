#include "kernels/reduce.h"

#include "base/error.h"
#include "base/float16.h"
#include "kernels/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cpp"
#include "hwy/foreach_target.h"
#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

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

template <class Format, class Operation>
struct Loop {
  using T = typename Format::Stored;
  using D = typename Format::D;

  /// Whole vectors of `out`, which with Streaming is aligned to one; how many elements those were.
  template <Store kStore>
  static std::int64_t vectors(const T* a, const T* b, T* out, std::int64_t n) {
    const auto step = static_cast<std::int64_t>(hn::Lanes(D()));
    const auto at = [&](std::int64_t i)
                        HWY_ATTR { return Operation::apply(D(), Format::load(a + i), Format::load(b + i)); };
    std::int64_t i = 0;
    for (; i + 4 * step <= n; i += 4 * step) {
      const auto v0 = at(i);
      const auto v1 = at(i + step);
      const auto v2 = at(i + 2 * step);
      const auto v3 = at(i + 3 * step);
      store<Format, kStore>(v0, out + i);
      store<Format, kStore>(v1, out + i + step);
      store<Format, kStore>(v2, out + i + 2 * step);
      store<Format, kStore>(v3, out + i + 3 * step);
    }
    for (; i + step <= n; i += step) store<Format, kStore>(at(i), out + i);
    return i;
  }

  /// Less than a vector.
  static void rest(const T* a, const T* b, T* out, std::int64_t n) {
    if (n <= 0) return;
    const auto bytes = static_cast<std::size_t>(n) * sizeof(T);
    HWY_ALIGN T x[hn::MaxLanes(D())] = {};
    HWY_ALIGN T y[hn::MaxLanes(D())] = {};
    std::memcpy(x, a, bytes);
    std::memcpy(y, b, bytes);
    store<Format>(Operation::apply(D(), Format::load(x), Format::load(y)), x);
    std::memcpy(out, x, bytes);
  }

  static void cached(const T* a, const T* b, T* out, std::int64_t n) {
    const std::int64_t done = vectors<Store::Cached>(a, b, out, n);
    rest(a + done, b + done, out + done, n - done);
  }

  /// Through the caches up to the first line that the result has whole, past them to the last.
  static void streaming(const T* a, const T* b, T* out, std::int64_t n) {
    const std::int64_t head = elements_to_line(out, sizeof(T), n);
    cached(a, b, out, head);
    const std::int64_t done = head + vectors<Store::Streaming>(a + head, b + head, out + head, n - head);
    rest(a + done, b + done, out + done, n - done);
    hwy::FlushStream();
  }

  template <Store kStore>
  static void run(const void* a_bytes, const void* b_bytes, void* out_bytes, std::int64_t n) {
    const auto* a = static_cast<const T*>(a_bytes);
    const auto* b = static_cast<const T*>(b_bytes);
    auto* out = static_cast<T*>(out_bytes);
    if constexpr (kStore == Store::Streaming) {
      streaming(a, b, out, n);
    } else {
      cached(a, b, out, n);
    }
  }
};

template <class Format, Store kStore>
void reduce_format(Reduction reduction, const void* a, const void* b, void* out, std::int64_t n) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Average:
      return Loop<Format, Add>::template run<kStore>(a, b, out, n);
    case Reduction::Product:
      return Loop<Format, Multiply>::template run<kStore>(a, b, out, n);
    case Reduction::Min:
      return Loop<Format, Least>::template run<kStore>(a, b, out, n);
    case Reduction::Max:
      return Loop<Format, Greatest>::template run<kStore>(a, b, out, n);
  }
}

template <Store kStore>
void reduce_any(Reduction reduction, Element element, const void* a, const void* b, void* out, std::int64_t n) {
  switch (element) {
    case Element::F32:
      return reduce_format<Plain<float>, kStore>(reduction, a, b, out, n);
    case Element::F64:
      return reduce_format<Plain<double>, kStore>(reduction, a, b, out, n);
    case Element::BF16:
      return reduce_format<Widened<bf16>, kStore>(reduction, a, b, out, n);
    case Element::F16:
      return reduce_format<Widened<f16>, kStore>(reduction, a, b, out, n);
    case Element::I8:
      return reduce_format<Plain<std::int8_t>, kStore>(reduction, a, b, out, n);
    case Element::U8:
      return reduce_format<Plain<std::uint8_t>, kStore>(reduction, a, b, out, n);
    case Element::I32:
      return reduce_format<Plain<std::int32_t>, kStore>(reduction, a, b, out, n);
    case Element::U32:
      return reduce_format<Plain<std::uint32_t>, kStore>(reduction, a, b, out, n);
    case Element::I64:
      return reduce_format<Plain<std::int64_t>, kStore>(reduction, a, b, out, n);
    case Element::U64:
      return reduce_format<Plain<std::uint64_t>, kStore>(reduction, a, b, out, n);
  }
}

void reduce_cached(Reduction reduction, Element element, const void* a, const void* b, void* out, std::int64_t n) {
  reduce_any<Store::Cached>(reduction, element, a, b, out, n);
}

void reduce_past_caches(Reduction reduction, Element element, const void* a, const void* b, void* out, std::int64_t n) {
  reduce_any<Store::Streaming>(reduction, element, a, b, out, n);
}

template <class Format>
void divide(void* bytes, std::int64_t n, int ranks) {
  using T = typename Format::Stored;
  auto* x = static_cast<T*>(bytes);
  if constexpr (std::is_integral_v<T>) {
    // Through 64 bits: the number of ranks need not fit the element.
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(static_cast<Wide>(x[i]) / static_cast<Wide>(ranks));
  } else {
    const typename Format::D d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    const auto divisor = hn::Set(d, static_cast<hn::TFromD<typename Format::D>>(ranks));
    std::int64_t i = 0;
    for (; i + step <= n; i += step) store<Format>(hn::Div(Format::load(x + i), divisor), x + i);
    HWY_ALIGN T tail[hn::MaxLanes(d)] = {};
    std::memcpy(tail, x + i, static_cast<std::size_t>(n - i) * sizeof(T));
    store<Format>(hn::Div(Format::load(tail), divisor), tail);
    std::memcpy(x + i, tail, static_cast<std::size_t>(n - i) * sizeof(T));
  }
}

void average_any(Element element, void* x, std::int64_t n, int ranks) {
  switch (element) {
    case Element::F32:
      return divide<Plain<float>>(x, n, ranks);
    case Element::F64:
      return divide<Plain<double>>(x, n, ranks);
    case Element::BF16:
      return divide<Widened<bf16>>(x, n, ranks);
    case Element::F16:
      return divide<Widened<f16>>(x, n, ranks);
    case Element::I8:
      return divide<Plain<std::int8_t>>(x, n, ranks);
    case Element::U8:
      return divide<Plain<std::uint8_t>>(x, n, ranks);
    case Element::I32:
      return divide<Plain<std::int32_t>>(x, n, ranks);
    case Element::U32:
      return divide<Plain<std::uint32_t>>(x, n, ranks);
    case Element::I64:
      return divide<Plain<std::int64_t>>(x, n, ranks);
    case Element::U64:
      return divide<Plain<std::uint64_t>>(x, n, ranks);
  }
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(reduce_cached);
HWY_EXPORT(reduce_past_caches);
HWY_EXPORT(average_any);

std::int64_t bytes_of(Element element) {
  switch (element) {
    case Element::I8:
    case Element::U8:
      return 1;
    case Element::BF16:
    case Element::F16:
      return 2;
    case Element::F32:
    case Element::I32:
    case Element::U32:
      return 4;
    case Element::F64:
    case Element::I64:
    case Element::U64:
      return 8;
  }
  throw InternalError("element type {} has no size", static_cast<int>(element));
}

std::string_view element_name(Element element) {
  constexpr std::string_view kNames[] = {"f32", "f64", "bf16", "f16", "i8", "u8", "i32", "u32", "i64", "u64"};
  return kNames[static_cast<std::size_t>(element)];
}

std::string_view reduction_name(Reduction reduction) {
  constexpr std::string_view kNames[] = {"sum", "prod", "min", "max", "avg"};
  return kNames[static_cast<std::size_t>(reduction)];
}

void reduce(Reduction reduction, Element element, const void* a, const void* b, void* out, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(reduce_cached)(reduction, element, a, b, out, n);
}

void reduce_streaming(Reduction reduction, Element element, const void* a, const void* b, void* out, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(reduce_past_caches)(reduction, element, a, b, out, n);
}

void average_of(Element element, void* x, std::int64_t n, int ranks) {
  EFLOPS_CHECK(ranks >= 1, "an average over {} ranks", ranks);
  HWY_DYNAMIC_DISPATCH(average_any)(element, x, n, ranks);
}

}  // namespace eflops::kernels
#endif
