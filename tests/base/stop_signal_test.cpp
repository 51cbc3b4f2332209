#include "base/stop_signal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <utility>

#include "base/error.h"

namespace eflops {
namespace {

class EachSignal : public ::testing::TestWithParam<std::pair<int, const char*>> {};

TEST_P(EachSignal, AsksForAStopAndIsNamed) {
  const StopSignal stop;
  EXPECT_FALSE(StopSignal::requested());
  std::raise(GetParam().first);
  EXPECT_TRUE(StopSignal::requested());
  EXPECT_EQ(StopSignal::name(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, EachSignal,
                         ::testing::Values(std::pair{SIGTERM, "SIGTERM"}, std::pair{SIGINT, "SIGINT"},
                                           std::pair{SIGUSR1, "SIGUSR1"}));

TEST(StopSignal, TwoAtATimeAreRefusedAndHandlersAreRestored) {
  const auto before = std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGTERM, before);
  {
    const StopSignal stop;
    EXPECT_THROW(StopSignal(), InternalError);
  }
  EXPECT_EQ(std::signal(SIGTERM, before), before);
}

TEST(StopSignalDeathTest, ASecondInterruptEndsTheProcess) {
  EXPECT_EXIT(
      {
        const StopSignal stop;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace eflops
