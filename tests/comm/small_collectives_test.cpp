#include "comm/small_collectives.h"

#include <gmock/gmock.h>

#include "tests/comm/transport_cases.h"

namespace eflops::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SmallCollectives : public testing::TestWithParam<test::TransportCase> {
 protected:
  static Deadline deadline() { return deadline_after(60); }
};

TEST_P(SmallCollectives, GatherBringsEveryRanksNumbersToRank0) {
  for (const int ranks : {1, 2, 5}) {
    GetParam().run(ranks, [&](Transport& transport) {
      const std::vector<double> mine{1.0 * transport.rank(), 0.5};
      const std::vector<std::vector<double>> all = gather(transport, mine, deadline());
      ASSERT_EQ(all.size(), transport.rank() == 0 ? static_cast<std::size_t>(ranks) : 0U);
      for (std::size_t rank = 0; rank < all.size(); ++rank) {
        EXPECT_THAT(all[rank], ElementsAre(static_cast<double>(rank), 0.5));
      }
    });
  }
}

TEST_P(SmallCollectives, GatherOfNothingIsNothing) {
  GetParam().run(2, [&](Transport& transport) {
    for (const auto& rank : gather(transport, std::span<const double>(), deadline())) EXPECT_THAT(rank, IsEmpty());
  });
}

TEST_P(SmallCollectives, BroadcastBringsRank0sBytesEverywhere) {
  GetParam().run(5, [&](Transport& transport) {
    std::vector<std::byte> bytes(1000, std::byte{static_cast<unsigned char>(transport.rank() + 7)});
    broadcast(transport, bytes, deadline());
    EXPECT_TRUE(bytes == std::vector<std::byte>(1000, std::byte{7}));
  });
}

// A rank that comes late is waited for: it has written its flag before any rank leaves the barrier.
TEST_P(SmallCollectives, NobodyLeavesABarrierBeforeAllHaveCome) {
  for (const int ranks : {1, 2, 3, 8}) {
    GetParam().run(ranks, [&](Transport& transport) {
      for (int round = 0; round < 20; ++round) {
        const auto before = std::chrono::steady_clock::now().time_since_epoch();
        const std::vector<double> came{std::chrono::duration<double>(before).count()};
        barrier(transport, deadline());
        const auto after = std::chrono::steady_clock::now().time_since_epoch();
        const std::vector<double> left{std::chrono::duration<double>(after).count()};
        // One clock for all: the ranks run on one host.
        const auto all_came = gather(transport, came, deadline());
        const auto all_left = gather(transport, left, deadline());
        for (const auto& a : all_came) {
          for (const auto& b : all_left) EXPECT_LE(a[0], b[0]);
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallCollectives, testing::ValuesIn(test::transport_cases()), test::name_of);

}  // namespace
}  // namespace eflops::comm
