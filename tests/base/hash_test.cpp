#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace eflops {
namespace {

// RFC 3720 appendix B.4.
TEST(Crc32c, HasTheValuesOfTheStandard) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending.push_back(byte);
  EXPECT_EQ(crc32c(ascending), 0x46DD794EU);
  EXPECT_EQ(crc32c(std::string(ascending.rbegin(), ascending.rend())), 0x113FDB5CU);
}

TEST(Crc32c, OfNothingIsZero) { EXPECT_EQ(crc32c(""), 0U); }

}  // namespace
}  // namespace eflops
