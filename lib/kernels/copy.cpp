#include "kernels/copy.h"

#include "kernels/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy.cpp"
#include "hwy/foreach_target.h"
#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

void copy_lines(std::uint8_t* to, const std::uint8_t* from, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t head = elements_to_line(to, 1, bytes);
  std::memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t i = head;
  for (; i + 4 * step <= bytes; i += 4 * step) {
    const auto v0 = hn::LoadU(d, from + i);
    const auto v1 = hn::LoadU(d, from + i + step);
    const auto v2 = hn::LoadU(d, from + i + 2 * step);
    const auto v3 = hn::LoadU(d, from + i + 3 * step);
    hn::Stream(v0, d, to + i);
    hn::Stream(v1, d, to + i + step);
    hn::Stream(v2, d, to + i + 2 * step);
    hn::Stream(v3, d, to + i + 3 * step);
  }
  std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
  hwy::FlushStream();
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(copy_lines);

void copy_streaming(void* to, const void* from, std::int64_t bytes) {
  HWY_DYNAMIC_DISPATCH(copy_lines)(static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from), bytes);
}

}  // namespace eflops::kernels
#endif
