#include "machine/bandwidth.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/parallel.h"

namespace eflops::machine {
namespace {

TEST(Bandwidth, KeepsEverySampleOfEveryScope) {
  const Machine machine = inspect();
  const int threads = thread_count();
  const auto results = measure_bandwidth(machine, {.repeats = 3, .megabytes = 4});
  ASSERT_EQ(results.size(), measuring_scopes(machine.topology).size());
  for (const BandwidthResult& result : results) {
    EXPECT_EQ(result.array_bytes, 4'000'000U);
    ASSERT_EQ(result.samples.size(), 3U);
    for (const double sample : result.samples) EXPECT_GT(sample, 0.0);
  }
  EXPECT_EQ(thread_count(), threads);
}

TEST(Bandwidth, RefusesArraysThatDoNotFit) {
  Machine machine = inspect();
  machine.memory_available_bytes = 1'200'000'000;
  EXPECT_THROW(measure_bandwidth(machine, {.repeats = 1, .megabytes = 101}), DataError);
}

}  // namespace
}  // namespace eflops::machine
