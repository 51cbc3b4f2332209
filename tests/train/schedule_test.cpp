#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace eflops::train {
namespace {

struct Golden {
  std::int64_t step;
  double google;
  double hf_linear;
};

// base 1, T = 100, w = 10. Google: step / 10, then 1 - step / 100. HF: step / 10, then (100 - step) / 90.
constexpr Golden kGolden[] = {{0, 0.0, 0.0},           {1, 0.1, 0.1},   {9, 0.9, 0.9},          {10, 0.9, 1.0},
                              {11, 0.89, 89.0 / 90.0}, {55, 0.45, 0.5}, {99, 0.01, 1.0 / 90.0}, {100, 0.0, 0.0}};

ScheduleOptions hundred_steps(ScheduleKind kind) {
  return {.kind = kind, .learning_rate = 1.0, .warmup_steps = 10, .total_steps = 100};
}

TEST(Schedule, GivesTheGoldenTable) {
  for (const Golden& golden : kGolden) {
    EXPECT_DOUBLE_EQ(learning_rate(hundred_steps(ScheduleKind::Google), golden.step), golden.google) << golden.step;
    EXPECT_DOUBLE_EQ(learning_rate(hundred_steps(ScheduleKind::HfLinear), golden.step), golden.hf_linear)
        << golden.step;
  }
}

// With power 1 and end 0 the polynomial is the line.
TEST(Schedule, PolynomialOfPowerOneIsLinear) {
  for (const Golden& golden : kGolden)
    EXPECT_DOUBLE_EQ(learning_rate(hundred_steps(ScheduleKind::Polynomial), golden.step), golden.hf_linear);
}

// Half-way between 10 and 100: 0.1 + 0.9 x (1/2)^2 = 0.325; past the end 0.1.
TEST(Schedule, PolynomialHasPowerAndEnd) {
  ScheduleOptions options = hundred_steps(ScheduleKind::Polynomial);
  options.power = 2.0;
  options.end_learning_rate = 0.1;
  EXPECT_DOUBLE_EQ(learning_rate(options, 55), 0.325);
  EXPECT_DOUBLE_EQ(learning_rate(options, 100), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(options, 101), 0.1);
}

// NVIDIA's BERT: power 1/2 from step 0, so the rate drops from 0.9 to sqrt(1 - 0.1) = 0.9487 of the peak's ramp at w.
TEST(Schedule, GoogleWithPowerOneHalfIsNvidias) {
  ScheduleOptions options = hundred_steps(ScheduleKind::Google);
  options.power = 0.5;
  EXPECT_DOUBLE_EQ(learning_rate(options, 10), std::sqrt(0.9));
  EXPECT_DOUBLE_EQ(learning_rate(options, 75), 0.5);
}

// cos(pi / 3) = 1/2 after a third of 90 steps, 0 after half: 0.2 + 0.8 x 0.75 and 0.2 + 0.8 x 0.5.
TEST(Schedule, CosineFallsToItsEnd) {
  ScheduleOptions options = hundred_steps(ScheduleKind::Cosine);
  options.end_learning_rate = 0.2;
  EXPECT_DOUBLE_EQ(learning_rate(options, 10), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(options, 40), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate(options, 55), 0.6);
  EXPECT_DOUBLE_EQ(learning_rate(options, 100), 0.2);
}

TEST(Schedule, ConstantStaysAtThePeak) {
  EXPECT_EQ(learning_rate(hundred_steps(ScheduleKind::Constant), 9), 0.9);
  for (const std::int64_t step : {10, 99, 100, 1000})
    EXPECT_EQ(learning_rate(hundred_steps(ScheduleKind::Constant), step), 1.0);
}

TEST(Schedule, WarmupMayStartAtOne) {
  ScheduleOptions options = hundred_steps(ScheduleKind::HfLinear);
  options.warmup_start = 1;
  EXPECT_EQ(learning_rate(options, 0), 0.1);
  EXPECT_EQ(learning_rate(options, 9), 1.0);
  EXPECT_EQ(learning_rate(options, 10), 1.0);
}

TEST(Schedule, WarmupIsStepsOrAShareRoundedUp) {
  EXPECT_EQ((ScheduleOptions{.warmup_steps = 7, .warmup_ratio = 0.5, .total_steps = 100}.warmup()), 7);
  EXPECT_EQ((ScheduleOptions{.warmup_ratio = 0.06, .total_steps = 101}.warmup()), 7);
  EXPECT_EQ((ScheduleOptions{.warmup_ratio = 0.0, .total_steps = 101}.warmup()), 0);
}

// T28: T = 0, w = 0, w > T, T = w, steps past T.
TEST(Schedule, StaysWithinZeroAndPeakInEveryCorner) {
  for (const auto& [kind, name] : Choices<ScheduleKind>::kEntries)
    for (const std::int64_t total : {0, 1, 2, 10})
      for (const std::int64_t warmup : {0, 1, 2, 9, 10, 11, 100})
        for (const std::int64_t start : {0, 1})
          for (const double end : {0.0, 0.5})
            for (std::int64_t step = 0; step < 120; ++step) {
              const ScheduleOptions options{.kind = kind,
                                            .learning_rate = 0.5,
                                            .warmup_steps = warmup,
                                            .warmup_ratio = 0.0,
                                            .total_steps = total,
                                            .end_learning_rate = end,
                                            .power = 2.0,
                                            .warmup_start = start};
              const double rate = learning_rate(options, step);
              ASSERT_TRUE(rate >= 0.0 && rate <= 0.5) << name << " T " << total << " w " << warmup << " step " << step;
            }
}

TEST(Schedule, EndAboveThePeakIsRefused) {
  EXPECT_NO_THROW((ScheduleOptions{.learning_rate = 0.1, .end_learning_rate = 0.1}.check()));
  EXPECT_THROW((ScheduleOptions{.learning_rate = 0.1, .end_learning_rate = 0.2}.check()), ConfigError);
}

TEST(Schedule, IsDescribedAtItsCorners) {
  EXPECT_EQ(describe_schedule(hundred_steps(ScheduleKind::HfLinear)),
            "learning rate at step 0: 0, 9: 0.9, 10: 1, 99: 0.0111");
  EXPECT_EQ(describe_schedule({.learning_rate = 0.5, .warmup_ratio = 0.0, .total_steps = 1}),
            "learning rate at step 0: 0.5");
}

TEST(Schedule, OptionsAreWalked) {
  ScheduleOptions options;
  assign(OptionSet(options), {.path = "kind", .values = {"google"}, .is_list = false, .source = "flag"});
  assign(OptionSet(options), {.path = "warmup-start", .values = {"1"}, .is_list = false, .source = "flag"});
  EXPECT_EQ(options.kind, ScheduleKind::Google);
  EXPECT_EQ(options.warmup_start, 1);
  EXPECT_EQ(describe(OptionSet(options)).size(), 8U);
}

}  // namespace
}  // namespace eflops::train
