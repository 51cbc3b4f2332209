#include "ops/matmul_cache.h"

#include <gtest/gtest.h>

namespace eflops::ops {
namespace {

MatmulKey key_of(std::int64_t rows) {
  return {.m = rows, .n = 8, .k = 4, .a_row = 4, .a_column = 1, .b_row = 8, .b_column = 1, .c_row = 8};
}

TEST(MatmulCache, MakesEachShapeOnce) {
  MatmulCache cache;
  const auto* first = &cache.find_or_make(key_of(3));
  EXPECT_EQ(&cache.find_or_make(key_of(3)), first);
  cache.find_or_make(key_of(4));
  EXPECT_EQ(cache.size(), 2U);
}

TEST(MatmulCache, StaysWithinItsCapacityAndKeepsWhatIsUsed) {
  MatmulCache cache;
  cache.find_or_make(key_of(1));
  for (std::int64_t rows = 2; rows <= static_cast<std::int64_t>(MatmulCache::kCapacity) + 50; ++rows) {
    cache.find_or_make(key_of(rows));
    cache.find_or_make(key_of(1));
  }
  EXPECT_EQ(cache.size(), MatmulCache::kCapacity);
  const auto* kept = &cache.find_or_make(key_of(1));
  EXPECT_EQ(kept->a.get_size(), 4 * sizeof(float));
}

}  // namespace
}  // namespace eflops::ops
