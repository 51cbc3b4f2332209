#include "kernels/reduce.h"

#include <utility>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cpp"
#include "hwy/foreach_target.h"
#include "kernels/reduce.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

template <class Format, class Operation>
void reduce_pair(const void* a_bytes, const void* b_bytes, void* out_bytes, std::int64_t n) {
  using T = typename Format::Stored;
  const typename Format::D d;
  const auto* a = static_cast<const T*>(a_bytes);
  const auto* b = static_cast<const T*>(b_bytes);
  auto* out = static_cast<T*>(out_bytes);
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  const auto at = [&](std::int64_t i)
                      HWY_ATTR { return Operation::apply(d, Format::load(a + i), Format::load(b + i)); };
  std::int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    const auto v0 = at(i);
    const auto v1 = at(i + step);
    const auto v2 = at(i + 2 * step);
    const auto v3 = at(i + 3 * step);
    store<Format>(v0, out + i);
    store<Format>(v1, out + i + step);
    store<Format>(v2, out + i + 2 * step);
    store<Format>(v3, out + i + 3 * step);
  }
  for (; i + step <= n; i += step) store<Format>(at(i), out + i);
  if (i == n) return;
  const auto bytes = static_cast<std::size_t>(n - i) * sizeof(T);
  HWY_ALIGN T x[hn::MaxLanes(d)] = {};
  HWY_ALIGN T y[hn::MaxLanes(d)] = {};
  std::memcpy(x, a + i, bytes);
  std::memcpy(y, b + i, bytes);
  store<Format>(Operation::apply(d, Format::load(x), Format::load(y)), x);
  std::memcpy(out + i, x, bytes);
}

void reduce_any(Reduction reduction, Element element, const void* a, const void* b, void* out, std::int64_t n) {
  with_format(element, [&](auto format) {
    with_operation(reduction,
                   [&](auto operation) { reduce_pair<decltype(format), decltype(operation)>(a, b, out, n); });
  });
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
  with_format(element, [&](auto format) { divide<decltype(format)>(x, n, ranks); });
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(reduce_any);
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

std::optional<Element> find_element(std::string_view name) {
  constexpr std::pair<std::string_view, Element> kOthers[] = {
      {"float", Element::F32},     {"float32", Element::F32}, {"double", Element::F64},  {"float64", Element::F64},
      {"bfloat16", Element::BF16}, {"half", Element::F16},    {"float16", Element::F16}, {"fp32", Element::F32},
      {"fp64", Element::F64},      {"fp16", Element::F16},    {"int8", Element::I8},     {"char", Element::I8},
      {"uint8", Element::U8},      {"int32", Element::I32},   {"int", Element::I32},     {"uint32", Element::U32},
      {"int64", Element::I64},     {"uint64", Element::U64}};
  for (const Element element : kElements) {
    if (element_name(element) == name) return element;
  }
  for (const auto& [other, element] : kOthers) {
    if (other == name) return element;
  }
  return std::nullopt;
}

std::string_view reduction_name(Reduction reduction) {
  constexpr std::string_view kNames[] = {"sum", "prod", "min", "max", "avg"};
  return kNames[static_cast<std::size_t>(reduction)];
}

void reduce(Reduction reduction, Element element, const void* a, const void* b, void* out, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(reduce_any)(reduction, element, a, b, out, n);
}

void average_of(Element element, void* x, std::int64_t n, int ranks) {
  EFLOPS_CHECK(ranks >= 1, "an average over {} ranks", ranks);
  HWY_DYNAMIC_DISPATCH(average_any)(element, x, n, ranks);
}

}  // namespace eflops::kernels
#endif
