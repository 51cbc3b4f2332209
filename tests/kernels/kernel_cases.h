#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/bfloat16.h"
#include "base/parallel.h"
#include "base/random.h"
#include "kernels/targets.h"
#include "tests/support/reference_ops.h"

namespace eflops::kernels::test {

using reference::to_double;
using reference::Values;

/// Around the ends of vectors of 4, 8 and 16 lanes, of the four-fold unrolled loops and of the 64 columns of a mask
/// block.
inline const std::vector<std::int64_t> kSizes = {0,  1,  2,  3,  4,  5,  7,  8,   9,   15, 16,
                                                 17, 31, 32, 33, 63, 64, 65, 127, 129, 200};

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

inline float stored(float value, float /*type*/) { return value; }
inline bf16 stored(float value, bf16 /*type*/) { return eflops::to_bf16(value); }

/// n normal values times `spread`, as T stores them; the same for the same `seed`.
template <typename T>
std::vector<T> random_values(std::int64_t n, std::uint64_t seed, double spread = 1.0) {
  Random random(seed, Purpose::Test);
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(stored(static_cast<float>(random.normal() * spread), T{}));
  return values;
}

/// Runs body once for every instruction set of this CPU and leaves the best one in use.
template <typename Body>
void on_every_target(const Body& body) {
  for (const std::string& target : available_targets()) {
    SCOPED_TRACE("target " + target);
    use_target(target);
    body();
    if (::testing::Test::HasFatalFailure()) break;
  }
  use_target(available_targets().front());
}

/// What body() returns (a vector) must have the same bits with 1, 2 and 3 threads, on every target.
template <typename Body>
void expect_same_bits_for_any_threads(const Body& body) {
  const int before = thread_count();
  on_every_target([&] {
    set_thread_count(1);
    const auto expected = body();
    for (const int threads : {2, 3}) {
      set_thread_count(threads);
      const auto actual = body();
      ASSERT_EQ(actual.size(), expected.size());
      EXPECT_EQ(std::memcmp(actual.data(), expected.data(), expected.size() * sizeof(expected[0])), 0)
          << threads << " threads";
    }
  });
  set_thread_count(before);
}

/// |actual - expected| <= tolerance * max(1, |expected|), plus for bf16 the rounding of the stored result: half a unit
/// of its 8 significant bits, 2^-8 relative with room for a tie that fell the other way.
template <typename T>
void expect_close(const std::vector<T>& actual, const Values& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  const double rounding = std::is_same_v<T, bf16> ? 0x1p-8 : 0.0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto value = static_cast<double>(to_float(actual[i]));
    const double bound = tolerance * std::max(1.0, std::abs(expected[i])) + rounding * std::abs(expected[i]);
    ASSERT_LE(std::abs(value - expected[i]), bound) << "element " << i << ": " << value << ", expected " << expected[i];
  }
}

/// Bit equality, so that NaN equals NaN and -0 differs from 0.
template <typename T>
bool same_bits(const T* a, const T* b, std::size_t n) {
  return n == 0 || std::memcmp(a, b, n * sizeof(T)) == 0;  // an empty vector may point nowhere
}
template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), a.size());
}

/// For an elementwise operation op(x, y, n): every piece [begin, begin + n) of x, computed by itself, has the bits it
/// has in the whole; on every target. Pieces start at every misalignment and end in every tail.
template <typename T, typename Op>
void expect_same_bits_anywhere(const std::vector<T>& x, const Op& op) {
  on_every_target([&] {
    const auto size = static_cast<std::int64_t>(x.size());
    std::vector<T> whole(x.size());
    op(x.data(), whole.data(), size);
    for (std::int64_t begin = 0; begin < 20; ++begin) {
      for (const std::int64_t n : {1, 3, 7, 8, 9, 17, 40}) {
        std::vector<T> piece(static_cast<std::size_t>(n));
        op(x.data() + begin, piece.data(), n);
        ASSERT_TRUE(same_bits(piece.data(), whole.data() + begin, piece.size())) << n << " elements at " << begin;
      }
    }
  });
}

using StorageTypes = ::testing::Types<float, bf16>;

}  // namespace eflops::kernels::test
