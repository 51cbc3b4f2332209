#include "bench/bandwidth.h"

#include <gtest/gtest.h>

namespace eflops::bench {
namespace {

using coll::Collective;

// reference/bench_conventions.md 2: 1,048,576 bytes in 104.0 us on 8 ranks are 10.08 and 17.64 GB/s.
TEST(Bandwidth, IsThatOfTheConventions) {
  const Bandwidth row = bandwidth(Collective::Allreduce, 8, 1048576, 104.0e-6);
  EXPECT_NEAR(row.algorithm, 10.0825, 1e-4);
  EXPECT_NEAR(*row.bus, 17.6443, 1e-4);
}

TEST(Bandwidth, FactorsAreThoseOfNcclTests) {
  EXPECT_EQ(bus_factor(Collective::Allreduce, 4), 1.5);
  EXPECT_EQ(bus_factor(Collective::ReduceScatter, 4), 0.75);
  EXPECT_EQ(bus_factor(Collective::AllGather, 4), 0.75);
  EXPECT_EQ(bus_factor(Collective::AllToAll, 4), 0.75);
  EXPECT_EQ(bus_factor(Collective::Broadcast, 4), 1);
}

// known_faults C17: one rank has no bus bandwidth, which is something else than 0.
TEST(Bandwidth, OfOneRankHasNoBusBandwidth) {
  EXPECT_FALSE(bandwidth(Collective::Allreduce, 1, 100, 1).bus.has_value());
}

}  // namespace
}  // namespace eflops::bench
