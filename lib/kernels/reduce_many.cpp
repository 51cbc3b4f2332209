#include "kernels/reduce_many.h"

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_many.cpp"
#include "hwy/foreach_target.h"
#include "kernels/reduce.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

using Inputs = std::span<const void* const>;
using Outputs = std::span<void* const>;

template <class Format, class Operation>
struct ManyLoop {
  using T = typename Format::Stored;
  using D = typename Format::D;
  using V = hn::Vec<D>;

  Inputs inputs;
  Outputs outputs;
  bool divides;

  const T* input(std::size_t k) const { return static_cast<const T*>(inputs[k]); }
  T* output(std::size_t k) const { return static_cast<T*>(outputs[k]); }

  /// The result before it is rounded.
  HWY_INLINE V ended(V v) const {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      if (divides) return hn::Div(v, hn::Set(D(), static_cast<hn::TFromD<D>>(inputs.size())));
    }
    return v;
  }

  HWY_INLINE V at(std::int64_t i) const {
    V v = Format::load(input(0) + i);
    for (std::size_t k = 1; k < inputs.size(); ++k) v = Operation::apply(D(), v, Format::load(input(k) + i));
    return ended(v);
  }

  /// Whole vectors from `i` on, which with Streaming are aligned in the outputs; the first element that is left.
  template <Store kStore>
  std::int64_t vectors(std::int64_t i, std::int64_t n) const {
    const auto step = static_cast<std::int64_t>(hn::Lanes(D()));
    for (; i + 4 * step <= n; i += 4 * step) {
      V v0 = Format::load(input(0) + i);
      V v1 = Format::load(input(0) + i + step);
      V v2 = Format::load(input(0) + i + 2 * step);
      V v3 = Format::load(input(0) + i + 3 * step);
      for (std::size_t k = 1; k < inputs.size(); ++k) {
        const T* const p = input(k) + i;
        v0 = Operation::apply(D(), v0, Format::load(p));
        v1 = Operation::apply(D(), v1, Format::load(p + step));
        v2 = Operation::apply(D(), v2, Format::load(p + 2 * step));
        v3 = Operation::apply(D(), v3, Format::load(p + 3 * step));
      }
      v0 = ended(v0);
      v1 = ended(v1);
      v2 = ended(v2);
      v3 = ended(v3);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        T* const p = output(k) + i;
        store<Format, kStore>(v0, p);
        store<Format, kStore>(v1, p + step);
        store<Format, kStore>(v2, p + 2 * step);
        store<Format, kStore>(v3, p + 3 * step);
      }
    }
    for (; i + step <= n; i += step) {
      const V v = at(i);
      for (std::size_t k = 0; k < outputs.size(); ++k) store<Format, kStore>(v, output(k) + i);
    }
    return i;
  }

  /// Less than a vector, from `i` on.
  void rest(std::int64_t i, std::int64_t n) const {
    if (i >= n) return;
    const auto bytes = static_cast<std::size_t>(n - i) * sizeof(T);
    HWY_ALIGN T x[hn::MaxLanes(D())] = {};
    std::memcpy(x, input(0) + i, bytes);
    V v = Format::load(x);
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      std::memcpy(x, input(k) + i, bytes);
      v = Operation::apply(D(), v, Format::load(x));
    }
    store<Format>(ended(v), x);
    for (std::size_t k = 0; k < outputs.size(); ++k) std::memcpy(output(k) + i, x, bytes);
  }

  void cached(std::int64_t i, std::int64_t n) const { rest(vectors<Store::Cached>(i, n), n); }

  /// Through the caches up to the first line that the results have whole, past them to the last.
  void streaming(std::int64_t n) const {
    const std::int64_t head = elements_to_line(outputs[0], sizeof(T), n);
    cached(0, head);
    rest(vectors<Store::Streaming>(head, n), n);
    hwy::FlushStream();
  }
};

void reduce_inputs(Reduction reduction, Element element, Inputs inputs, Outputs outputs, std::int64_t n, Store how) {
  with_format(element, [&](auto format) {
    with_operation(reduction, [&](auto operation) {
      const ManyLoop<decltype(format), decltype(operation)> loop{inputs, outputs, reduction == Reduction::Average};
      how == Store::Streaming ? loop.streaming(n) : loop.cached(0, n);
    });
  });
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(reduce_inputs);

namespace {

bool are_equally_far_from_a_line(std::span<void* const> outputs) {
  const auto past = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % kLineBytes; };
  return std::all_of(outputs.begin(), outputs.end(), [&](const void* p) { return past(p) == past(outputs[0]); });
}

bool is_float(Element element) {
  return element == Element::F32 || element == Element::F64 || element == Element::BF16 || element == Element::F16;
}

}  // namespace

void reduce_many(Reduction reduction, Element element, std::span<const void* const> inputs,
                 std::span<void* const> outputs, std::int64_t n, Store how) {
  EFLOPS_CHECK(!inputs.empty(), "a reduction of no inputs");
  if (n == 0 || outputs.empty()) return;
  if (!are_equally_far_from_a_line(outputs)) how = Store::Cached;
  HWY_DYNAMIC_DISPATCH(reduce_inputs)(reduction, element, inputs, outputs, n, how);
  if (reduction != Reduction::Average || is_float(element)) return;
  for (void* const output : outputs) average_of(element, output, n, static_cast<int>(inputs.size()));
}

}  // namespace eflops::kernels
#endif
