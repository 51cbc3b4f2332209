#include "base/progress.h"

#include <gtest/gtest.h>

namespace eflops {
namespace {

TEST(Format, Durations) {
  EXPECT_EQ(format_duration(std::chrono::duration<double>(0.44)), "0.4 s");
  EXPECT_EQ(format_duration(std::chrono::duration<double>(59.4)), "59 s");
  EXPECT_EQ(format_duration(std::chrono::duration<double>(200)), "3 min 20 s");
  EXPECT_EQ(format_duration(std::chrono::duration<double>(3720)), "1 h 02 min");
}

TEST(Format, ThreeSignificantDigitsWithAPrefix) {
  EXPECT_EQ(format_si(431), "431");
  EXPECT_EQ(format_si(431.26), "431");
  EXPECT_EQ(format_si(12900), "12.9 k");
  EXPECT_EQ(format_si(999.7), "1.00 k");
  EXPECT_EQ(format_si(1.5e9), "1.50 G");
  EXPECT_EQ(format_si(0), "0");
}

TEST(Format, BytesInPowersOf1024) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{3} << 30), "3.0 GiB");
}

}  // namespace
}  // namespace eflops
