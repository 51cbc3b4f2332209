#include "coll/rank_map.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "coll/algorithms.h"
#include "coll/verify.h"

namespace eflops::coll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RankMap, RoundRobinDealsRanksToServersInTurn) {
  // 6 ranks on 3 servers of 2 slots: ranks 0, 1, 2 take slot 0 of servers 0, 1, 2, the others slot 1.
  EXPECT_THAT(RankMap::round_robin(6, 3).places(), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THROW(RankMap::round_robin(6, 4), ConfigError);
  EXPECT_THROW(RankMap::round_robin(6, 0), ConfigError);
}

TEST(RankMap, RandomDependsOnItsSeedAlone) {
  const RankMap map = RankMap::random(50, 7);
  EXPECT_EQ(map.places(), RankMap::random(50, 7).places());
  EXPECT_NE(map.places(), RankMap::random(50, 8).places());
  EXPECT_FALSE(map.is_identity());
  for (int rank = 0; rank < 50; ++rank) EXPECT_EQ(map.rank_at(map.place_of(rank)), rank);
}

// The golden placement of reference/eflops.md 4 for M = 4, N = 8, as ranks by switch in slot order.
TEST(RankMap, HdrmPlacesRanksAsTheGoldenTable) {
  const std::vector<int> golden = {0, 15, 20, 27, 3, 9,  23, 29, 5, 10, 17, 30, 6, 12, 18, 24,
                                   1, 8,  16, 25, 2, 11, 19, 26, 4, 13, 21, 28, 7, 14, 22, 31};
  const RankMap map = RankMap::hdrm(4, 8);
  for (int place = 0; place < 32; ++place) EXPECT_EQ(map.rank_at(place), golden[static_cast<std::size_t>(place)]);
  EXPECT_THAT(RankMap::hdrm(2, 4).places(), ElementsAre(0, 4, 6, 2, 5, 3, 1, 7));  // 8 servers: reference/emulation.md
}

// Where each directed link between an upper and a lower switch carries one flow a round at most, as M <= N/2.
TEST(RankMap, HdrmPutsOneFlowOnALinkInEveryRoundOfHalvingDoubling) {
  for (const auto& [slots, switches] : {std::pair{2, 8}, {4, 8}, {4, 16}, {8, 16}, {16, 32}}) {
    const int ranks = slots * switches;
    const RankMap map = RankMap::hdrm(slots, switches);
    const Problem problem{.ranks = ranks, .elements = ranks};
    const auto lists = build_all(algorithm(Collective::Allreduce, "halving-doubling"), problem);
    std::vector<std::vector<int>> flows(static_cast<std::size_t>(lists[0].rounds),
                                        std::vector<int>(static_cast<std::size_t>(switches * switches), 0));
    for (int rank = 0; rank < ranks; ++rank) {
      for (const Transfer& transfer : lists[static_cast<std::size_t>(rank)].transfers) {
        if (transfer.kind != Kind::Send) continue;
        const int from = map.place_of(rank) / slots;
        const int to = map.place_of(transfer.peer) / slots;
        EXPECT_NE(from < switches / 2, to < switches / 2) << "stays in one part";
        const auto link = static_cast<std::size_t>(from * switches + to);
        EXPECT_EQ(++flows[static_cast<std::size_t>(transfer.round)][link], 1);
      }
    }
  }
}

TEST(RankMap, HdrmIsABijectionForEverySizeItTakesAndRefusesTheRest) {
  for (int slots = 1; slots <= 64; slots *= 2) {
    for (int switches = 2; switches <= 64; switches *= 2)
      EXPECT_EQ(RankMap::hdrm(slots, switches).size(), slots * switches);
  }
  for (const auto& [slots, switches] : {std::pair{3, 4}, {4, 6}, {4, 1}, {0, 8}, {-4, 8}}) {
    EXPECT_THROW(RankMap::hdrm(slots, switches), ConfigError) << slots << " " << switches;
  }
}

TEST(RankMap, AnyMapLeavesAnAllreduceRightAndItsTreeAlike) {
  const Problem problem{.ranks = 8, .elements = 21};
  const RankMap map = RankMap::random(8, 3);
  for (const std::string_view name : algorithm_names(Collective::Allreduce)) {
    const auto lists = build_all(algorithm(Collective::Allreduce, name), problem);
    std::vector<RankSchedule> by_place(8);
    for (int place = 0; place < 8; ++place) {
      by_place[static_cast<std::size_t>(place)] =
          placed(problem, lists[static_cast<std::size_t>(map.rank_at(place))], map);
    }
    EXPECT_EQ(verify(problem, by_place).fault, "") << name;
  }
}

TEST(RankMap, OnlyInOrderWhereEachRankHasABlock) {
  const Problem problem{.collective = Collective::AllGather, .ranks = 4, .elements = 8};
  EXPECT_NO_THROW(placed(problem, {}, RankMap::in_order(4)));
  EXPECT_THROW(placed(problem, {}, RankMap::round_robin(4, 2)), ConfigError);
}

class RankMapFile : public testing::Test {
 protected:
  std::string written(const std::string& text) {
    std::ofstream(path_) << text;
    return path_.string();
  }
  std::string error(const std::string& text) {
    try {
      RankMap::from_file(written(text), 3);
    } catch (const DataError& caught) {
      return std::string(caught.what()).substr(path_.string().size());
    }
    return "";
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) /
                                (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".map");
};

TEST_F(RankMapFile, HoldsAPlaceALine) {
  EXPECT_THAT(RankMap::from_file(written("# rank 0 first\n2\n\n0\r\n1"), 3).places(), ElementsAre(2, 0, 1));
}

TEST_F(RankMapFile, FaultsNameTheLine) {
  EXPECT_EQ(error("2\n0\nx1\n"), ":3: 'x1' is no place; expected a number from 0 to 2");
  EXPECT_EQ(error("2\n3\n"), ":2: '3' is no place; expected a number from 0 to 2");
  EXPECT_EQ(error("2\n-1\n"), ":2: '-1' is no place; expected a number from 0 to 2");
  EXPECT_EQ(error("2\n0\n2\n"), ":3: place 2 stands in line 1 too");
  EXPECT_EQ(error("2\n0\n"), ": 2 places for 3 ranks; one a line for each rank");
  EXPECT_EQ(error(""), ": 0 places for 3 ranks; one a line for each rank");
}

}  // namespace
}  // namespace eflops::coll
