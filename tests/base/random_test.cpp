#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace eflops {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
TEST(Philox, EqualsThePublishedKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsAFunctionOfItsKeyAlone) {
  Random first(7, Purpose::Test, 3, 4);
  std::vector<std::uint64_t> draws;
  for (int i = 0; i < 10; ++i) draws.push_back(first.next_u64());
  Random other(7, Purpose::Test, 3, 5);
  other.next_u64();
  Random again(7, Purpose::Test, 3, 4);
  for (const std::uint64_t draw : draws) EXPECT_EQ(again.next_u64(), draw);
}

TEST(Random, StreamsOfDifferentKeysDiffer) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (const Purpose purpose : {Purpose::Dropout, Purpose::Chunking})
      for (std::uint64_t a = 0; a < 16; ++a)
        for (std::uint64_t b = 0; b < 16; ++b) firsts.insert(Random(seed, purpose, a, b).next_u64());
  EXPECT_EQ(firsts.size(), 4U * 2 * 16 * 16);
}

// 60,000 draws of 6 values: each count is 10,000 with sd sqrt(60000·5/36) = 91; 5 sd bound.
TEST(Random, BelowIsUniform) {
  Random random(1, Purpose::Test);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60000; ++i) ++counts[random.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 456);
}

// Mean of 100,000 uniforms: sd 0.2887/316 = 0.00091; of normals 1/316 = 0.0032; 5 sd bounds.
TEST(Random, MomentsAreThoseOfTheDistributions) {
  Random random(2, Purpose::Test);
  double uniform = 0;
  double normal = 0;
  double square = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    uniform += random.uniform();
    const double z = random.normal();
    normal += z;
    square += z * z;
    EXPECT_LE(std::abs(random.truncated_normal()), 2.0);
  }
  EXPECT_NEAR(uniform / n, 0.5, 0.0046);
  EXPECT_NEAR(normal / n, 0.0, 0.016);
  EXPECT_NEAR(square / n, 1.0, 0.0224);  // sd of z² is sqrt 2
}

}  // namespace
}  // namespace eflops
