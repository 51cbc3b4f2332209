#include "kernels/convert.h"

#include <bit>

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

TEST(Convert, EveryBf16SurvivesTheWayThroughFloat) {
  std::vector<bf16> all;
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) all.push_back({static_cast<std::uint16_t>(bits)});
  test::on_every_target([&] {
    std::vector<float> wide(all.size());
    std::vector<bf16> back(all.size());
    to_float(all.data(), wide.data(), 0x10000);
    to_bf16(wide.data(), back.data(), 0x10000);
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), static_cast<std::uint32_t>(i) << 16);
      // A signalling NaN (quiet bit 0x40 clear) comes back quiet; all else as it was.
      const bool is_nan = (i & 0x7FFFU) > 0x7F80U;
      ASSERT_EQ(back[i].bits, is_nan ? i | 0x40U : i);
    }
  });
}

TEST(Convert, RoundsToNearestEven) {
  const auto bits = [](std::uint32_t b) { return std::bit_cast<float>(b); };
  const std::vector<float> x = {bits(0x3F808000), bits(0x3F818000), bits(0x3F808001), bits(0x3F807FFF),
                                bits(0x7F7FFFFF), bits(0x80000001), bits(0x00008000), bits(0x7F800001)};
  // tie to even (down, up); just above and below a tie; overflow to Inf; -denormal to -0; a denormal tie; NaN stays NaN
  const std::vector<std::uint16_t> expected = {0x3F80, 0x3F82, 0x3F81, 0x3F80, 0x7F80, 0x8000, 0x0000, 0x7FC0};
  test::on_every_target([&] {
    std::vector<bf16> y(x.size());
    to_bf16(x.data(), y.data(), 8);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i].bits, expected[i]) << i;
  });
}

TEST(Convert, AgreesWithTheScalarRuleForAnyBitsAndSize) {
  Random random(1, Purpose::Test);
  std::vector<float> x(50000);
  for (float& value : x) value = std::bit_cast<float>(random.next_u32());
  test::on_every_target([&] {
    for (const std::int64_t n : {0, 1, 7, 8, 9, 50000}) {
      std::vector<bf16> y(x.size(), bf16{0x1234});
      to_bf16(x.data(), y.data(), n);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bf16 expected = static_cast<std::int64_t>(i) < n ? eflops::to_bf16(x[i]) : bf16{0x1234};
        ASSERT_EQ(y[i].bits, expected.bits) << i << " of " << n;
      }
    }
  });
}

}  // namespace
}  // namespace eflops::kernels
