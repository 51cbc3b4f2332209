#include "bench/sizes.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace eflops::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseBytes, ReadsBinaryMultiplesInTheSpellingsOfTheField) {
  EXPECT_EQ(parse_bytes("0", "size"), 0);
  EXPECT_EQ(parse_bytes("8", "size"), 8);
  EXPECT_EQ(parse_bytes("8B", "size"), 8);
  for (const char* text : {"64K", "64k", "64KB", "64KiB", "64kib"}) EXPECT_EQ(parse_bytes(text, "size"), 65536) << text;
  EXPECT_EQ(parse_bytes("128M", "size"), 134217728);
  EXPECT_EQ(parse_bytes("4G", "size"), 4294967296);
  EXPECT_EQ(parse_bytes("1T", "size"), 1099511627776);
}

TEST(ParseBytes, RefusesEverythingElseAndNamesTheOption) {
  for (const char* text : {"", "K", "-8", "+8", "8.5M", "8 M", "8MM", "8KiBs", "8Q", "0x8", "99999999999999999999"}) {
    EXPECT_THROW(parse_bytes(text, "size"), ConfigError) << text;
  }
  EXPECT_THROW(parse_bytes("9000000000000000G", "size"), ConfigError);
  try {
    parse_bytes("12Q", "size.begin");
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("size.begin: '12Q' is no size; write bytes, or a number with K, M, G or T"));
  }
}

TEST(BytesText, IsShortWhereItCanBe) {
  EXPECT_EQ(bytes_text(0), "0");
  EXPECT_EQ(bytes_text(100), "100");
  EXPECT_EQ(bytes_text(1024), "1K");
  EXPECT_EQ(bytes_text(3 << 20), "3M");
  EXPECT_EQ(bytes_text((1 << 20) + 1), "1048577");
  EXPECT_EQ(bytes_text(std::int64_t{1} << 42), "4T");
}

TEST(SizesOf, GoByFactorOrByStep) {
  EXPECT_THAT(sizes_of({.begin = 8, .end = 64, .factor = 2}), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(sizes_of({.begin = 8, .end = 100, .factor = 3}), ElementsAre(8, 24, 72));
  EXPECT_THAT(sizes_of({.begin = 0, .end = 4, .factor = 2}), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(sizes_of({.begin = 4, .end = 12, .step = 4}), ElementsAre(4, 8, 12));
  EXPECT_THAT(sizes_of({.begin = 7, .end = 7, .factor = 2}), ElementsAre(7));
  EXPECT_THAT(sizes_of({.begin = 10, .end = 14, .factor = 1.1}), ElementsAre(10, 11, 12, 13, 14));
}

TEST(SizesOf, RefusesSweepsThatGoNowhereOrOnForEver) {
  EXPECT_THROW(sizes_of({.begin = 8, .end = 4}), ConfigError);
  EXPECT_THROW(sizes_of({.begin = 8, .end = 16, .factor = 1}), ConfigError);
  EXPECT_THROW(sizes_of({.begin = -1, .end = 16}), ConfigError);
  EXPECT_THROW(sizes_of({.begin = 1, .end = 1 << 20, .step = 1}), ConfigError);
}

}  // namespace
}  // namespace eflops::bench
