#include "coll/schedule.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace eflops::coll {
namespace {

TEST(CollectiveNames, AreReadAsTheyAreWritten) {
  for (const Collective collective : kCollectives) EXPECT_EQ(collective_named(collective_name(collective)), collective);
  EXPECT_EQ(collective_named("all_gather"), Collective::AllGather);
  try {
    collective_named("gather");
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "'gather' is no collective; there are allreduce reduce-scatter all-gather broadcast alltoall");
  }
}

TEST(BlockOf, CutsWithoutGapsLargerBlocksFirst) {
  // 10 elements from 5 in 4 parts: 3, 3, 2, 2.
  const Range all{5, 15};
  EXPECT_EQ(block_of(all, 4, 0), (Range{5, 8}));
  EXPECT_EQ(block_of(all, 4, 1), (Range{8, 11}));
  EXPECT_EQ(block_of(all, 4, 2), (Range{11, 13}));
  EXPECT_EQ(block_of(all, 4, 3), (Range{13, 15}));
}

TEST(BlockOf, LeavesEmptyBlocksWhereElementsRunOut) {
  EXPECT_EQ(block_of({0, 2}, 3, 1).size(), 1);
  EXPECT_TRUE(block_of({0, 2}, 3, 2).empty());
  EXPECT_TRUE(block_of({0, 0}, 3, 0).empty());
}

TEST(BlockOf, IsExactBeyond32Bits) {
  // 2^32 - 1, 2^32 and 2^32 + 1 elements in 3 parts: the last part ends where the range ends.
  for (const std::int64_t offset : {-1, 0, 1}) {
    for (const std::int64_t base : {std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 62}) {
      const std::int64_t n = base + offset;
      EXPECT_EQ(block_of({0, n}, 3, 2).end, n);
      EXPECT_EQ(block_of({0, n}, 3, 1).begin, block_of({0, n}, 3, 0).end);
      EXPECT_EQ(block_of({0, n}, 3, 0).size(), n / 3 + (n % 3 > 0 ? 1 : 0));
    }
  }
}

}  // namespace
}  // namespace eflops::coll
