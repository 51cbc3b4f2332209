#include "data/sharding_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_signal.h"

namespace eflops::data {
namespace {

using ::testing::HasSubstr;

/// Sends the numbers [0, jobs) through `work` and returns what comes back.
std::vector<std::string> map(const PoolOptions& options, int jobs, std::function<std::string(std::string_view)> work) {
  int next = 0;
  std::vector<std::string> results;
  map_in_processes(options, {.produce =
                                 [&](std::string& job) {
                                   job = std::to_string(next);
                                   return next++ < jobs;
                                 },
                             .work = std::move(work),
                             .consume = [&](std::string_view result) { results.emplace_back(result); }});
  return results;
}

std::string doubled(std::string_view job) { return std::string(job) + std::string(job); }

TEST(ShardingPool, ResultsComeInTheOrderOfTheJobsWhateverTheProcesses) {
  const std::vector<std::string> expected = map({.processes = 1}, 100, doubled);
  EXPECT_EQ(expected.size(), 100U);
  EXPECT_EQ(expected[37], "3737");
  for (const std::int64_t processes : {2, 3, 8}) EXPECT_EQ(map({.processes = processes}, 100, doubled), expected);
  EXPECT_TRUE(map({.processes = 3}, 0, doubled).empty());
}

TEST(ShardingPool, ResultsLargerThanAnySocketBufferComeWhole) {
  const auto results = map({.processes = 2}, 5, [](std::string_view job) { return std::string(3'000'000, job[0]); });
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(results[4], std::string(3'000'000, '4'));
}

TEST(ShardingPool, WorkIsDoneInOtherProcessesAndNoneOutlivesTheCall) {
  const auto pids = map({.processes = 2}, 20, [](std::string_view) { return std::to_string(::getpid()); });
  const std::set<std::string> different(pids.begin(), pids.end());
  EXPECT_EQ(different.count(std::to_string(::getpid())), 0U);
  for (const std::string& pid : different) EXPECT_NE(::kill(std::stoi(pid), 0), 0);
}

TEST(ShardingPool, TheFirstErrorInTheOrderOfTheJobsIsThrown) {
  for (const std::int64_t processes : {1, 4}) {
    std::string message;
    try {
      map({.processes = processes}, 50, [](std::string_view job) -> std::string {
        if (job == "7") ::usleep(50'000);  // the later error is ready first
        if (job == "7" || job == "8") throw DataError("text:{}: bad", job);
        return "";
      });
    } catch (const Error& error) {
      message = error.what();
      EXPECT_EQ(error.exit_code(), ExitCode::Data);
    }
    EXPECT_EQ(message, "text:7: bad") << processes;
  }
}

TEST(ShardingPool, AKilledWorkerIsAnError) {
  std::string message;
  try {
    map({.processes = 2}, 20, [](std::string_view job) -> std::string {
      if (job == "11") ::kill(::getpid(), SIGKILL);
      return "";
    });
  } catch (const DataError& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr("was killed by signal 9"));
}

TEST(ShardingPool, AWorkerThatStandsStillIsATimeout) {
  EXPECT_THROW(map({.processes = 2, .deadline = std::chrono::seconds(1)}, 4,
                   [](std::string_view) -> std::string {
                     ::pause();
                     return "";
                   }),
               TimeoutError);
}

TEST(ShardingPool, AStopSignalEndsItCleanly) {
  auto stop = std::make_unique<StopSignal>();
  for (const std::int64_t processes : {1, 2}) {
    EXPECT_THROW(map_in_processes({.processes = processes}, {.produce =
                                                                 [](std::string& job) {
                                                                   job.assign(3, 'x');
                                                                   ::raise(SIGUSR1);
                                                                   return true;
                                                                 },
                                                             .work = doubled,
                                                             .consume = [](std::string_view) {}}),
                 InterruptedError);
  }
  stop.reset();
  stop = std::make_unique<StopSignal>();  // forgets the signal
}

}  // namespace
}  // namespace eflops::data
