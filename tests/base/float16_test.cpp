#include "base/float16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"
#include "tests/support/half_reference.h"

namespace eflops {
namespace {

using test::half_value;
using test::nearest_half;

TEST(Float16, EveryHalfBecomesItsFloatAndComesBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const f16 half{static_cast<std::uint16_t>(bits)};
    const double value = half_value(half.bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(half)));
      EXPECT_TRUE(std::isnan(to_float(to_f16(to_float(half)))));
    } else {
      ASSERT_EQ(to_float(half), value) << bits;
      ASSERT_EQ(to_f16(to_float(half)), half) << bits;
    }
  }
}

TEST(Float16, RoundsToTheNearestTiesToEven) {
  const auto expect_rounded = [](float value) {
    ASSERT_EQ(to_f16(value).bits, nearest_half(static_cast<double>(value))) << value;
  };
  // Every half, the middle to the next one, and the floats beside that middle; both signs.
  for (unsigned bits = 0; bits < 0x7C00; ++bits) {
    const auto here = static_cast<float>(half_value(static_cast<std::uint16_t>(bits)));
    const double next = bits == 0x7BFF ? 65536.0 : half_value(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((static_cast<double>(here) + next) / 2);
    for (const float value : {here, std::nextafter(middle, 0.0F), middle, std::nextafter(middle, HUGE_VALF)}) {
      expect_rounded(value);
      expect_rounded(-value);
    }
  }
  Random random(1, Purpose::Test);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::bit_cast<float>(random.next_u32());
    if (!std::isnan(value)) expect_rounded(value);
  }
}

}  // namespace
}  // namespace eflops
