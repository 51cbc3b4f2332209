// The dropout mask of kernels/dropout.h, 64 columns at a time; toggling guard as in simd.inl.
#if defined(EFLOPS_KERNELS_DROPOUT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef EFLOPS_KERNELS_DROPOUT_INL
#undef EFLOPS_KERNELS_DROPOUT_INL
#else
#define EFLOPS_KERNELS_DROPOUT_INL
#endif

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "kernels/dropout.h"
#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kMaskBlock = 64;  ///< columns whose draws come from eight calls of philox

/// What the mask of one row needs: element c is multiplied by factors(c / 64)[c % 64], which is scale or 0.
struct MaskRow {
  std::uint64_t key;
  std::uint64_t salt;
  std::int32_t threshold;  ///< draws below it are dropped
  float scale;
};

HWY_INLINE MaskRow mask_row(const Dropout& dropout, std::int64_t row) {
  return {.key = dropout.row_keys[row],
          .salt = dropout.salt,
          .threshold = static_cast<std::int32_t>(std::nearbyint(dropout.probability * 65536.0F)),
          .scale = 1.0F / (1.0F - dropout.probability)};
}

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void mask_factors(const MaskRow& row, std::int64_t block, float* factors) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  for (std::size_t lane = 0; lane < 8; ++lane) {
    const auto counter = static_cast<std::uint32_t>(block * 8) + static_cast<std::uint32_t>(lane);
    const auto words = eflops::philox({counter, 0, low(row.salt), high(row.salt)}, {low(row.key), high(row.key)});
    for (std::size_t half = 0; half < 8; ++half) {
      const auto draw = static_cast<std::int32_t>(words[half / 2] >> (16 * (half % 2)) & 0xFFFFU);
      factors[8 * half + lane] = draw >= row.threshold ? row.scale : 0.0F;
    }
  }
}

#else

using DrawTag = hn::CappedTag<std::uint32_t, 8>;
using Draws = hn::Vec<DrawTag>;
using WideTag = hn::Repartition<std::uint64_t, DrawTag>;

/// Philox4x32-10 of base/random.h on every other 32-bit lane: words live in the lower half of 64-bit lanes, whose upper
/// halves hold rubbish that no multiplication reads.
struct PhiloxState {
  Draws c0, c1, c2, c3;

  HWY_INLINE void round(Draws k0, Draws k1) {
    const DrawTag d;
    const auto p0 = hn::MulEven(c0, hn::Set(d, 0xD2511F53U));
    const auto p1 = hn::MulEven(c2, hn::Set(d, 0xCD9E8D57U));
    c0 = hn::Xor(hn::Xor(hn::BitCast(d, hn::ShiftRight<32>(p1)), c1), k0);
    c2 = hn::Xor(hn::Xor(hn::BitCast(d, hn::ShiftRight<32>(p0)), c3), k1);
    c1 = hn::BitCast(d, p1);
    c3 = hn::BitCast(d, p0);
  }
};

/// Lanes of both states in counter order.
HWY_INLINE Draws interleave(Draws even, Draws odd) {
  const DrawTag d;
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(WideTag(), odd))), even);
}

/// Writes the factors of the draws in the halves of `word` for two groups of eight columns.
HWY_INLINE void store_factors(Draws word, const MaskRow& row, float* factors) {
  const DrawTag d;
  const hn::RebindToSigned<DrawTag> signed_tag;
  const hn::RebindToFloat<DrawTag> float_tag;
  const auto last_dropped = hn::Set(signed_tag, row.threshold - 1);
  const auto scale = hn::Set(float_tag, row.scale);
  const auto low = hn::BitCast(signed_tag, hn::And(word, hn::Set(d, 0xFFFFU)));
  const auto high = hn::BitCast(signed_tag, hn::ShiftRight<16>(word));
  const auto keep_low = hn::RebindMask(float_tag, hn::Gt(low, last_dropped));
  const auto keep_high = hn::RebindMask(float_tag, hn::Gt(high, last_dropped));
  hn::StoreU(hn::IfThenElseZero(keep_low, scale), float_tag, factors);
  hn::StoreU(hn::IfThenElseZero(keep_high, scale), float_tag, factors + 8);
}

HWY_INLINE void mask_factors(const MaskRow& row, std::int64_t block, float* factors) {
  const DrawTag d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t lane = 0; lane < 8; lane += step) {
    const Draws counters = hn::Iota(d, static_cast<std::uint32_t>(block * 8 + lane));
    const Draws zero = hn::Zero(d);
    const Draws salt_low = hn::Set(d, static_cast<std::uint32_t>(row.salt));
    const Draws salt_high = hn::Set(d, static_cast<std::uint32_t>(row.salt >> 32));
    PhiloxState even{counters, zero, salt_low, salt_high};
    PhiloxState odd{hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(WideTag(), counters))), zero, salt_low, salt_high};
    Draws k0 = hn::Set(d, static_cast<std::uint32_t>(row.key));
    Draws k1 = hn::Set(d, static_cast<std::uint32_t>(row.key >> 32));
    for (int i = 0; i < 10; ++i) {
      even.round(k0, k1);
      odd.round(k0, k1);
      k0 = hn::Add(k0, hn::Set(d, 0x9E3779B9U));
      k1 = hn::Add(k1, hn::Set(d, 0xBB67AE85U));
    }
    store_factors(interleave(even.c0, odd.c0), row, factors + lane);
    store_factors(interleave(even.c1, odd.c1), row, factors + 16 + lane);
    store_factors(interleave(even.c2, odd.c2), row, factors + 32 + lane);
    store_factors(interleave(even.c3, odd.c3), row, factors + 48 + lane);
  }
}

#endif

/// Calls body(part, i, factor) over a row of n columns, `factor` being the mask of its elements.
template <typename Body>
HWY_INLINE void for_each_masked(const MaskRow& row, std::int64_t n, const Body& body) {
  HWY_ALIGN float factors[kMaskBlock];
  for (std::int64_t first = 0; first < n; first += kMaskBlock) {
    mask_factors(row, first / kMaskBlock, factors);
    for_each_vector(std::min(kMaskBlock, n - first),
                    [&](auto part, std::int64_t i) HWY_ATTR { body(part, first + i, hn::LoadU(Tag(), factors + i)); });
  }
}

}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
