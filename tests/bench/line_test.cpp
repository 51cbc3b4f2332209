#include "bench/line.h"

#include <gmock/gmock.h>

#include "comm/inproc_transport.h"

namespace eflops::bench {
namespace {

using coll::Collective;

TEST(Line, MemoryOfOneServerCountsEveryInputAndResultOnce) {
  // 4 ranks, 100 bytes each: 400 read and 400 written.
  EXPECT_EQ(least_memory_bytes(Collective::Allreduce, 4, 100), 800);
  EXPECT_EQ(least_memory_bytes(Collective::AllToAll, 4, 100), 800);
  // 4 inputs of 100 read, 4 blocks of 25 written; and the other way round.
  EXPECT_EQ(least_memory_bytes(Collective::ReduceScatter, 4, 100), 500);
  EXPECT_EQ(least_memory_bytes(Collective::AllGather, 4, 100), 500);
  // The root's 100 read, 300 written.
  EXPECT_EQ(least_memory_bytes(Collective::Broadcast, 4, 100), 400);
}

TEST(Line, ShareOfMemoryIsKnownBeyondTheCachesOnly) {
  const Line line{.what = "memory", .bytes_per_second = 10e9, .server_of_rank = {0, 0}, .cache_bytes = 4000};
  EXPECT_FALSE(line.is_between_servers());
  EXPECT_EQ(share_of_line(line, Collective::Allreduce, Place::Out, 1000, std::nullopt, 1e-6), std::nullopt);
  // Two inputs and two results of 2,000 bytes are no more than twice the caches; in place they are half as many.
  EXPECT_EQ(share_of_line(line, Collective::Allreduce, Place::Out, 2000, std::nullopt, 1e-6), std::nullopt);
  EXPECT_EQ(share_of_line(line, Collective::Allreduce, Place::In, 2500, std::nullopt, 1e-6), std::nullopt);
  // 10,000 bytes read and written in 2 us are 5 of 10 GB/s.
  EXPECT_DOUBLE_EQ(share_of_line(line, Collective::Allreduce, Place::Out, 2500, std::nullopt, 2e-6).value(), 0.5);
  EXPECT_DOUBLE_EQ(share_of_line(line, Collective::Allreduce, Place::In, 5000, std::nullopt, 4e-6).value(), 0.5);
}

// The row of reference/bench_conventions.md 2: 10.08 of 12.5 GB/s are 80.7 %.
TEST(Line, ShareOfAPortIsThatOfTheBytesThroughIt) {
  const Line line{.what = "100 Gb/s", .bytes_per_second = 12.5e9, .server_of_rank = {0, 0, 1, 1}};
  EXPECT_TRUE(line.is_between_servers());
  EXPECT_NEAR(share_of_line(line, Collective::Allreduce, Place::Out, 1048576, 1048576, 104e-6).value(), 0.807, 0.0005);
  EXPECT_EQ(share_of_line(line, Collective::Allreduce, Place::Out, 1048576, std::nullopt, 104e-6), std::nullopt);
  const Line unknown{.what = "", .server_of_rank = {0, 1}};
  EXPECT_EQ(share_of_line(unknown, Collective::Allreduce, Place::Out, 1048576, 1048576, 104e-6), std::nullopt);
}

TEST(Line, CopyRateIsTheSumOfAllRanksAndTheSameOnEach) {
  std::array<double, 3> rates{};
  comm::run_inproc(3, [&](comm::Transport& transport) {
    rates[static_cast<std::size_t>(transport.rank())] = measure_copy_rate(transport, 1 << 20, 30);
  });
  EXPECT_GT(rates[0], 1e6);
  EXPECT_EQ(rates[0], rates[1]);
  EXPECT_EQ(rates[0], rates[2]);
}

}  // namespace
}  // namespace eflops::bench
