#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <vector>

namespace eflops {
namespace {

class Threads : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(2); }
};

TEST_P(Threads, EveryIndexIsVisitedOnceAndRangesStartAtMultiplesOfTheGrain) {
  for (const std::int64_t count : {0, 1, 7, 8, 9, 1000}) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
    std::atomic<bool> aligned{true};
    parallel_for(count, 8, [&](std::int64_t begin, std::int64_t end) {
      if (begin % 8 != 0) aligned = false;
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    EXPECT_TRUE(aligned);
    for (const auto& visit : visits) EXPECT_EQ(visit, 1);
  }
}

TEST_P(Threads, ALoopInsideALoopRunsInline) {
  std::atomic<int> calls{0};
  std::atomic<std::int64_t> sum{0};
  parallel_for(4, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      parallel_for(100, 1, [&](std::int64_t first, std::int64_t last) {
        ++calls;
        sum += last - first;
      });
  });
  EXPECT_EQ(sum, 400);
  if (GetParam() > 1) {
    EXPECT_EQ(calls, 4);
  }
}

TEST_P(Threads, AnExceptionOfABodyReachesTheCaller) {
  EXPECT_THROW(parallel_for(100, 1,
                            [](std::int64_t begin, std::int64_t end) {
                              if (begin <= 99 && 99 < end) throw std::runtime_error("99");
                            }),
               std::runtime_error);
}

TEST_P(Threads, DenormalsAreFlushedInEveryThread) {
  flush_denormals();
  std::atomic<int> kept{0};
  parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) {
    volatile float tiny = std::numeric_limits<float>::min();
    for (std::int64_t i = begin; i < end; ++i)
      if (tiny * 0.5F != 0.0F) ++kept;
  });
  EXPECT_EQ(kept, 0);
}

INSTANTIATE_TEST_SUITE_P(Counts, Threads, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace eflops
