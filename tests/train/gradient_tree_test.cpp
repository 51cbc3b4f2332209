#include "train/gradient_tree.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace eflops::train {
namespace {

constexpr std::int64_t kElements = 1003;

using Buffer = std::vector<float>;

/// Values of very different sizes, so that the order of addition shows.
std::vector<Buffer> random_leaves(std::int64_t shards) {
  std::vector<Buffer> leaves;
  for (std::int64_t shard = 0; shard < shards; ++shard) {
    Random random(7, Purpose::Test, static_cast<std::uint64_t>(shard));
    Buffer& leaf = leaves.emplace_back();
    for (std::int64_t i = 0; i < kElements; ++i)
      leaf.push_back(static_cast<float>(random.normal() * std::pow(10.0, random.normal())));
  }
  return leaves;
}

/// The tree as DESIGN D8 says it: level k adds shards i and i xor 2^k.
Buffer pairwise_tree(std::vector<Buffer> sums) {
  for (std::size_t distance = 1; distance < sums.size(); distance *= 2)
    for (std::size_t i = 0; i < sums.size(); i += 2 * distance)
      for (std::size_t e = 0; e < sums[i].size(); ++e) sums[i][e] += sums[i ^ distance][e];
  return sums[0];
}

Buffer tree_sum(GradientTree& tree, const std::vector<Buffer>& leaves) {
  tree.reset();
  for (const Buffer& leaf : leaves) {
    float* gradient = tree.leaf();
    for (std::size_t i = 0; i < leaf.size(); ++i) gradient[i] += leaf[i];
    tree.add_leaf();
  }
  const std::span<float> sum = tree.sum();
  return {sum.begin(), sum.end()};
}

TEST(GradientTree, EqualsThePairwiseTreeBitForBit) {
  for (const std::int64_t shards : {1, 2, 4, 8, 16}) {
    const std::vector<Buffer> leaves = random_leaves(shards);
    GradientTree tree(kElements, shards);
    EXPECT_EQ(tree_sum(tree, leaves), pairwise_tree(leaves)) << shards;
  }
}

// Two steps: the second finds buffers full of the first one's sums and must start from zeros.
TEST(GradientTree, StartsEveryStepFromZeros) {
  const std::vector<Buffer> leaves = random_leaves(8);
  GradientTree tree(kElements, 8);
  const Buffer first = tree_sum(tree, leaves);
  EXPECT_EQ(tree_sum(tree, leaves), first);
}

// 2^24 + 1 = 2^24 in float. Chain: ((2^24 + 1) + 1) + 1 = 2^24. Tree: (2^24 + 1) + (1 + 1) = 2^24 + 2.
TEST(GradientTree, IsNotALeftChain) {
  const std::vector<Buffer> leaves = {{0x1p24F}, {1.0F}, {1.0F}, {1.0F}};
  GradientTree tree(1, 4);
  EXPECT_EQ(tree_sum(tree, leaves), Buffer{0x1p24F + 2.0F});
  float chain = 0;
  for (const Buffer& leaf : leaves) chain += leaf[0];
  EXPECT_EQ(chain, 0x1p24F);
}

TEST(GradientTree, NeedsLogShardsPlusOneBuffers) {
  for (const std::int64_t shards : {1, 2, 4, 8, 16, 32}) {
    const std::vector<Buffer> leaves(static_cast<std::size_t>(shards), Buffer(kElements, 1.0F));
    GradientTree tree(kElements, shards);
    for (int step = 0; step < 3; ++step)
      EXPECT_EQ(tree_sum(tree, leaves), Buffer(kElements, static_cast<float>(shards)));
    EXPECT_EQ(tree.buffers(), std::bit_width(static_cast<std::uint64_t>(shards))) << shards;
  }
}

TEST(GradientTree, GivesOneLeafUntilItIsAdded) {
  GradientTree tree(3, 2);
  float* first = tree.leaf();
  first[0] = 5.0F;
  EXPECT_EQ(tree.leaf(), first);
  EXPECT_EQ(first[0], 5.0F);
  tree.reset();
  EXPECT_EQ(tree.leaf()[0], 0.0F);
}

TEST(GradientTree, RefusesShardCountsThatAreNoPowerOfTwo) {
  for (const std::int64_t shards : {-1, 0, 3, 6, 12}) EXPECT_THROW(GradientTree(1, shards), ConfigError) << shards;
}

TEST(GradientTree, RefusesMisuse) {
  GradientTree tree(1, 2);
  EXPECT_THROW(tree.add_leaf(), InternalError);
  tree.leaf();
  tree.add_leaf();
  EXPECT_THROW(tree.sum(), InternalError);
  tree.leaf();
  tree.add_leaf();
  EXPECT_NO_THROW(tree.sum());
  EXPECT_THROW(tree.leaf(), InternalError);
}

}  // namespace
}  // namespace eflops::train
