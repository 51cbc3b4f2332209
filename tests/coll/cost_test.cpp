#include "coll/cost.h"

#include <gmock/gmock.h>

#include <cmath>

namespace eflops::coll {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Powers of two, so that sums of products are exact and == holds.
constexpr CostModel kModel{.alpha_s = 1024, .beta_s_per_byte = 2, .gamma_s_per_byte = 0.5};
constexpr std::int64_t kBytes = 4;
constexpr double kAlpha = kModel.alpha_s;
constexpr double kBeta = kModel.beta_s_per_byte;
constexpr double kGamma = kModel.gamma_s_per_byte;

double cost(std::string_view name, const Problem& problem) {
  return cost_s(algorithm(problem.collective, name), problem, kBytes, kModel);
}

// Formulas of reference/eflops.md 7; elements are multiples of the ranks, so that blocks are equal.
TEST(Cost, EqualsTheTextbookFormulas) {
  for (const int p : {2, 4, 8, 16, 64}) {
    const Problem problem{.ranks = p, .elements = 1024};
    const double n = 1024 * kBytes;
    const double lg = std::log2(p);
    const double share = (p - 1.0) / p;
    EXPECT_EQ(cost("ring", problem), 2 * (p - 1) * kAlpha + 2 * share * n * kBeta + share * n * kGamma);
    const double halving = 2 * lg * kAlpha + 2 * share * n * kBeta + share * n * kGamma;
    EXPECT_EQ(cost("halving-doubling", problem), halving);
    EXPECT_EQ(cost("halving-doubling-far", problem), halving);
    EXPECT_EQ(cost("recursive-doubling", problem), lg * (kAlpha + n * kBeta + n * kGamma));
    EXPECT_EQ(cost("direct", problem), 2 * kAlpha + 2 * share * n * kBeta + share * n * kGamma);
  }
}

TEST(Cost, OfFoldedHalvingDoublingHasTwoMoreStepsOfAllTheData) {
  // 6 ranks: 2 are folded away; 4 go on: (2·2 + 2) alpha + (2·3/4 + 2) n beta + (1 + 3/4) n gamma.
  const double n = 1024 * kBytes;
  EXPECT_EQ(cost("halving-doubling", {.ranks = 6, .elements = 1024}), 6 * kAlpha + 3.5 * n * kBeta + 1.75 * n * kGamma);
}

TEST(Cost, OfSegmentedRingCountsPhases) {
  // 4 ranks, blocks of 256, segments of 64: 4 phases, (4 + 1)·3 steps.
  const double n = 1024 * kBytes;
  EXPECT_EQ(cost("segmented-ring", {.ranks = 4, .elements = 1024, .segment_elements = 64}),
            15 * kAlpha + 1.5 * n * kBeta + 0.75 * n * kGamma);
}

TEST(Cost, OfHierarchicalIsTheSumOfItsPhases) {
  // 16 ranks in servers of 4: halving-doubling inside (4 steps of 3/4 n twice) and on a quarter between 4 servers.
  const double n = 1024 * kBytes;
  const double inside = 4 * kAlpha + 1.5 * n * kBeta + 0.75 * n * kGamma;
  const double between = 4 * kAlpha + 1.5 * n / 4 * kBeta + 0.75 * n / 4 * kGamma;
  EXPECT_EQ(cost("hierarchical", {.ranks = 16, .elements = 1024, .group_size = 4}), inside + between);
}

TEST(Cost, OfOtherCollectives) {
  const double n = 1024 * kBytes;
  const auto problem = [](Collective collective) {
    return Problem{.collective = collective, .ranks = 8, .elements = 1024};
  };
  EXPECT_EQ(cost("ring", problem(Collective::ReduceScatter)), 7 * kAlpha + 0.875 * n * kBeta + 0.875 * n * kGamma);
  EXPECT_EQ(cost("halving", problem(Collective::ReduceScatter)), 3 * kAlpha + 0.875 * n * kBeta + 0.875 * n * kGamma);
  EXPECT_EQ(cost("doubling", problem(Collective::AllGather)), 3 * kAlpha + 0.875 * n * kBeta);
  EXPECT_EQ(cost("binomial", problem(Collective::Broadcast)), 3 * (kAlpha + n * kBeta));
  EXPECT_EQ(cost("pairwise", problem(Collective::AllToAll)), 7 * kAlpha + 0.875 * n * kBeta);
  EXPECT_EQ(cost("bruck", problem(Collective::AllToAll)), 3 * (kAlpha + n / 2 * kBeta));
  EXPECT_EQ(cost("ring", {.ranks = 1, .elements = 1024}), 0);
}

TEST(BytesByGroup, ShowsWhatANetworkPortOfAServerCarries) {
  // 4 servers of 4 ranks (reference/bench_conventions.md 8): nearest first and hierarchical 2(N-1)/N·n, farthest first
  // four times that; a ring in order 2(p-1)/p·n, dealt round-robin four times that.
  const int p = 16;
  const int servers = 4;
  const Problem problem{.ranks = p, .elements = 1024, .group_size = 4};
  std::vector<int> server_of;
  for (int place = 0; place < p; ++place) server_of.push_back(place / 4);
  const std::int64_t n = 1024 * kBytes;
  const auto traffic = [&](std::string_view name, const RankMap& map) {
    return bytes_by_group(algorithm(Collective::Allreduce, name), problem, kBytes, map, server_of);
  };
  const auto both = [](std::int64_t bytes) { return GroupBytes{bytes, bytes}; };
  const RankMap packed = RankMap::in_order(p);
  const RankMap dealt = RankMap::round_robin(p, servers);
  EXPECT_THAT(traffic("halving-doubling", packed), Each(both(2 * 3 * n / 4)));
  EXPECT_THAT(traffic("hierarchical", packed), Each(both(2 * 3 * n / 4)));
  EXPECT_THAT(traffic("halving-doubling-far", packed), Each(both(4 * 2 * 3 * n / 4)));
  EXPECT_THAT(traffic("ring", packed), Each(both(2 * 15 * n / 16)));
  EXPECT_THAT(traffic("ring", dealt), Each(both(4 * 2 * 15 * n / 16)));
  EXPECT_EQ(traffic("ring", packed).size(), 4U);
}

}  // namespace
}  // namespace eflops::coll
