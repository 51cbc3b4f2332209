#include "kernels/norm.h"

#include <vector>

#include "kernels/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm.cpp"
#include "hwy/foreach_target.h"
#include "kernels/norm.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

double block_square_sum(const float* x, std::int64_t n) { return square_sum(x, n); }

bool all_finite(const float* x, std::int64_t n) {
  // The exponent of NaN and Inf is all ones; so is the maximum of exponents if one of them is.
  const UintTag d;
  const auto exponent = hn::Set(d, 0x7F800000U);
  auto largest = hn::Zero(d);
  for_each_vector(n, [&](auto part, std::int64_t i) HWY_ATTR {
    largest = hn::Max(largest, hn::And(hn::BitCast(d, load(part, x + i)), exponent));
  });
  return hn::AllFalse(d, hn::Eq(largest, exponent));
}

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {

HWY_EXPORT(block_square_sum);
HWY_EXPORT(all_finite);

namespace {

constexpr std::int64_t kGrain = 4 * kNormBlock;

std::int64_t block_count(std::int64_t n) { return (n + kNormBlock - 1) / kNormBlock; }

}  // namespace

void block_sums_of_squares(const float* x, std::int64_t n, double* sums) {
  parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kNormBlock) {
      sums[at / kNormBlock] = HWY_DYNAMIC_DISPATCH(block_square_sum)(x + at, std::min(kNormBlock, end - at));
    }
  });
}

double sum_of_squares(const float* x, std::int64_t n) {
  std::vector<double> sums(static_cast<std::size_t>(block_count(n)));
  block_sums_of_squares(x, n, sums.data());
  double total = 0.0;
  for (const double sum : sums) total += sum;
  return total;
}

std::int64_t first_nonfinite(const float* x, std::int64_t n) {
  std::vector<char> bad(static_cast<std::size_t>(block_count(n)));
  parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kNormBlock) {
      bad[static_cast<std::size_t>(at / kNormBlock)] =
          HWY_DYNAMIC_DISPATCH(all_finite)(x + at, std::min(kNormBlock, end - at)) ? 0 : 1;
    }
  });
  const auto block = std::find(bad.begin(), bad.end(), 1);
  if (block == bad.end()) return -1;
  std::int64_t i = (block - bad.begin()) * kNormBlock;
  while (x[i] - x[i] == 0.0F) ++i;
  return i;
}

}  // namespace eflops::kernels
#endif
