#include "coll/algorithms.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "coll/verify.h"
#include "tests/coll/problems.h"

namespace eflops::coll {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

TEST(Algorithms, AreRightForAllRanksTo24AndAwkwardSizes) {
  int checked = 0;
  for (int ranks = 1; ranks <= 24; ++ranks) {
    test::for_each_problem(ranks, [&](const Algorithm& algorithm, const Problem& problem) {
      ++checked;
      EXPECT_EQ(verify(problem, build_all(algorithm, problem)).fault, "") << test::described(algorithm, problem);
    });
  }
  // 14 algorithms take any number of ranks; each was asked for at least seven sizes.
  EXPECT_GT(checked, 24 * 14 * 7);
}

TEST(Algorithms, AreRightForManyRanks) {
  for (const int ranks : {63, 64, 100}) {
    for (const Algorithm& algorithm : algorithms()) {
      const Problem problem{.collective = algorithm.collective, .ranks = ranks, .elements = 2L * ranks};
      if (algorithm.refuses(problem)) continue;
      EXPECT_EQ(verify(problem, build_all(algorithm, problem)).fault, "") << test::described(algorithm, problem);
    }
  }
}

// DESIGN D8: these pair schedule ranks at distance 1, 2, 4 ..., so 1, 2, 4 ... ranks add in one and the same tree.
TEST(Algorithms, NearestFirstOnesAddInTheBalancedTree) {
  for (const int ranks : {1, 2, 4, 8, 16, 32}) {
    for (const std::string_view name : {"halving-doubling", "recursive-doubling", "hierarchical"}) {
      for (int group = 1; group <= (name == "hierarchical" ? ranks : 1); group *= 2) {
        Problem problem{.ranks = ranks, .elements = 37, .group_size = group};
        const auto lists = build_all(algorithm(Collective::Allreduce, name), problem);
        EXPECT_THAT(verify(problem, lists).trees, Each(balanced_tree(ranks))) << name << " " << ranks << " " << group;
      }
    }
  }
}

TEST(Algorithms, OthersAddInAnotherTree) {
  const Problem problem{.ranks = 8, .elements = 16};
  for (const std::string_view name : {"ring", "segmented-ring", "direct", "halving-doubling-far", "double-tree"}) {
    const auto trees = verify(problem, build_all(algorithm(Collective::Allreduce, name), problem)).trees;
    EXPECT_NE(trees.at(5), balanced_tree(8)) << name;
  }
}

TEST(Algorithms, BuildOneRanksListForThousandsOfRanks) {
  const std::int64_t elements = (std::int64_t{1} << 33) + 5;  // beyond 32 bits
  for (const Algorithm& algorithm : algorithms()) {
    Problem problem{.collective = algorithm.collective, .ranks = 4096, .elements = elements, .group_size = 8};
    if (algorithm.refuses(problem)) problem.elements = std::int64_t{1} << 33;
    const RankSchedule list = algorithm.build(problem, 4095);
    EXPECT_GT(list.rounds, 0);
    for (const Transfer& transfer : list.transfers) {
      ASSERT_GE(transfer.range.begin, 0);
      ASSERT_LE(transfer.range.end, problem.elements);
      ASSERT_LT(transfer.range.begin, transfer.range.end);
    }
  }
}

std::string refusal(const Algorithm& algorithm, const Problem& problem) {
  try {
    check_problem(algorithm, problem);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Algorithms, RefuseWhatTheyCannotDoInWords) {
  const Algorithm& ring = algorithm(Collective::Allreduce, "ring");
  EXPECT_THAT(refusal(ring, {.ranks = 0}), HasSubstr("at least 1"));
  EXPECT_THAT(refusal(ring, {.ranks = 2, .elements = -1}), HasSubstr("elements: -1 is negative"));
  EXPECT_THAT(refusal(ring, {.ranks = 2, .segment_elements = -8}), HasSubstr("segment_elements: -8"));
  EXPECT_THAT(refusal(algorithm(Collective::Broadcast, "binomial"),
                      {.collective = Collective::Broadcast, .ranks = 2, .root = 2}),
              HasSubstr("no rank 2 among 2 (0 to 1)"));
  EXPECT_THAT(
      refusal(algorithm(Collective::ReduceScatter, "halving"), {.collective = Collective::ReduceScatter, .ranks = 6}),
      HasSubstr("needs a power of two of ranks, not 6"));
  EXPECT_THAT(refusal(algorithm(Collective::AllToAll, "bruck"),
                      {.collective = Collective::AllToAll, .ranks = 4, .elements = 6}),
              HasSubstr("multiple of 4 elements"));
  const Algorithm& hierarchical = algorithm(Collective::Allreduce, "hierarchical");
  EXPECT_THAT(refusal(hierarchical, {.ranks = 6, .group_size = 4}), HasSubstr("group_size 4 does not divide 6 ranks"));
  EXPECT_THAT(refusal(hierarchical, {.ranks = 6, .group_size = 2, .inner = "hierarchical"}), HasSubstr("own inner"));
  EXPECT_EQ(refusal(hierarchical, {.ranks = 6, .elements = 9, .group_size = 3}), "");
}

TEST(Algorithms, UnknownNamesAreAnsweredWithTheKnownOnes) {
  try {
    algorithm(Collective::AllToAll, "ring");
    FAIL() << "there is no all-to-all by ring";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "alltoall has no algorithm 'ring'; there are pairwise, bruck");
  }
}

}  // namespace
}  // namespace eflops::coll
