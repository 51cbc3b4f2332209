#include "coll/double_tree.h"

#include <gmock/gmock.h>

namespace eflops::coll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// reference/eflops.md 8, from NCCL's trees.cc.
TEST(DoubleTree, TwelveRanksAsInNccl) {
  EXPECT_THAT(first_tree(12, 0).children, ElementsAre(8));
  EXPECT_THAT(first_tree(12, 8).children, ElementsAre(4, 10));
  EXPECT_THAT(first_tree(12, 4).children, ElementsAre(2, 6));
  EXPECT_THAT(first_tree(12, 10).children, ElementsAre(9, 11));
  EXPECT_THAT(first_tree(12, 2).children, ElementsAre(1, 3));
  EXPECT_THAT(first_tree(12, 6).children, ElementsAre(5, 7));
  EXPECT_THAT(first_tree(12, 5).children, IsEmpty());
  // Mirrored: the root is 11, whose child mirrors 8.
  EXPECT_EQ(second_tree(12, 11).parent, -1);
  EXPECT_THAT(second_tree(12, 11).children, ElementsAre(3));
  EXPECT_THAT(second_tree(12, 3).children, ElementsAre(1, 7));
}

TEST(DoubleTree, ThirteenRanksAsInNccl) {
  EXPECT_THAT(first_tree(13, 8).children, ElementsAre(4, 12));
  EXPECT_THAT(first_tree(13, 12).children, ElementsAre(10));
  EXPECT_THAT(first_tree(13, 10).children, ElementsAre(9, 11));
  // Shifted by one: the root is 1, whose child is 9.
  EXPECT_EQ(second_tree(13, 1).parent, -1);
  EXPECT_THAT(second_tree(13, 1).children, ElementsAre(9));
  EXPECT_THAT(second_tree(13, 9).children, ElementsAre(0, 5));  // 8 -> {4, 12} shifted: {5, 13 mod 13}
}

TEST(DoubleTree, ParentsAndChildrenAgreeAndInnerNodesOfOneAreLeavesOfTheOther) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    for (const auto tree : {first_tree, second_tree}) {
      int roots = 0;
      for (int position = 0; position < ranks; ++position) {
        const TreePlace place = tree(ranks, position);
        roots += place.parent < 0 ? 1 : 0;
        ASSERT_LE(place.children.size(), 2U);
        for (const int child : place.children) ASSERT_EQ(tree(ranks, child).parent, position) << ranks;
      }
      ASSERT_EQ(roots, 1) << ranks;
    }
    if (ranks % 2 != 0) continue;
    for (int position = 0; position < ranks; ++position) {
      const bool inner_twice =
          !first_tree(ranks, position).children.empty() && !second_tree(ranks, position).children.empty();
      ASSERT_FALSE(inner_twice && ranks > 2) << ranks << " " << position;
    }
  }
}

}  // namespace
}  // namespace eflops::coll
