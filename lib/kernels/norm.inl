// Sums of squares in double; toggling guard as in simd.inl.
#if defined(EFLOPS_KERNELS_NORM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef EFLOPS_KERNELS_NORM_INL
#undef EFLOPS_KERNELS_NORM_INL
#else
#define EFLOPS_KERNELS_NORM_INL
#endif

#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {

/// Sum of x[i]^2 over one block, in four interleaved vectors of double: a fixed order for a given n.
HWY_INLINE double square_sum(const float* x, std::int64_t n) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> narrow;
  const auto step = static_cast<std::int64_t>(hn::Lanes(wide));
  const auto square = [&](std::int64_t i) HWY_ATTR {
    const auto v = hn::PromoteTo(wide, hn::LoadU(narrow, x + i));
    return hn::Mul(v, v);
  };
  auto s0 = hn::Zero(wide);
  auto s1 = s0;
  auto s2 = s0;
  auto s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    s0 = hn::Add(s0, square(i));
    s1 = hn::Add(s1, square(i + step));
    s2 = hn::Add(s2, square(i + 2 * step));
    s3 = hn::Add(s3, square(i + 3 * step));
  }
  double sum = hn::GetLane(hn::SumOfLanes(wide, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
