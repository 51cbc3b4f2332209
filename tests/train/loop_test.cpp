#include "train/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"

namespace eflops::train {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Fits two parameters to numbers that depend on the step: loss = sum over shards of (w - target(step, shard))^2 /
/// shards.
class Toy : public Trainable {
 public:
  Toy() {
    store_.add({.name = "w", .shape = {3}, .init = nn::Init::Ones});
    store_.add({.name = "bias", .shape = {2}, .init = nn::Init::Zeros, .decays = false});
    store_.initialise(1, 0.02);
  }
  nn::ParameterStore& parameters() override { return store_; }
  void begin_step(std::int64_t shards) override {
    shards_ = shards;
    loss_ = 0;
  }
  void run_shard(std::int64_t shard) override {
    for (const nn::Parameter& parameter : store_.parameters())
      for (std::int64_t i = 0; i < parameter.elements(); ++i) {
        const auto at = static_cast<std::size_t>(parameter.offset + i);
        const float target = 0.1F * static_cast<float>((position_ * 7 + shard * 3 + i) % 11);
        const float error = store_.values()[at] - target;
        loss_ += error * error / static_cast<float>(shards_);
        store_.gradients()[at] += 2 * error / static_cast<float>(shards_);
      }
    if (position_ == nan_gradient_at)
      store_.gradients()[store_.find("bias")->offset] = std::numeric_limits<float>::quiet_NaN();
    if (position_ == raise_at) std::raise(SIGTERM);
  }
  StepReport end_step() override {
    ++position_;
    const double loss = position_ - 1 == nan_loss_at ? std::numeric_limits<double>::quiet_NaN() : loss_;
    StepReport report;
    report.loss = loss;
    report.tokens = 5;
    report.samples = 1;
    return report;
  }
  EvaluationReport evaluate() override { return {{{"error", loss_}}, loss_}; }
  std::string data_position() const override { return fmt::format("{{\"at\":{}}}", position_); }
  void restore_data_position(const std::string& position) override {
    ASSERT_EQ(std::sscanf(position.c_str(), "{\"at\":%ld}", &position_), 1);
  }

  std::vector<float> weights() {
    const auto values = store_.values();
    return {values.begin(), values.end()};
  }

  std::int64_t nan_gradient_at = -1;
  std::int64_t nan_loss_at = -1;
  std::int64_t raise_at = -1;

 private:
  nn::ParameterStore store_;
  std::int64_t shards_ = 1;
  std::int64_t position_ = 0;
  double loss_ = 0;
};

class Loop : public ::testing::Test {
 protected:
  void SetUp() override { log::set_level(log::Level::Off); }
  void TearDown() override { log::set_level(log::Level::Info); }

  static TrainingOptions options(std::int64_t steps) {
    TrainingOptions all;
    all.loop = {.steps = steps, .log_every = 1, .evaluate_every = 4, .save_every = 5};
    all.schedule.learning_rate = 0.05;
    all.schedule.total_steps = 20;
    all.keep = {.keep_last = 2, .keep_best = 1};
    return all;
  }
  TrainingContext context(const std::string& folder) const {
    TrainingContext all;
    all.folder = temporary_.path() / folder;
    fs::create_directories(all.folder);
    all.identity.config_hash = "same";
    all.ours_alone = [](const nn::Parameter&) { return false; };
    all.write_model_files = [](const fs::path& target) { write_file_atomically(target / "config.json", "{}\n"); };
    return all;
  }
  std::string metrics(const std::string& folder) const {
    return read_file(temporary_.path() / folder / "metrics.jsonl");
  }

  TemporaryFolder temporary_;
};

// T32: 20 steps in one process, and 7 + 6 + 7 in three that each find only what the one before left.
TEST_F(Loop, ResumedRunsEndWithTheSameBitsAndTheSameMetrics) {
  Toy whole;
  train(whole, options(20), context("whole"));
  std::vector<float> weights;
  for (const std::int64_t steps : {7, 13, 20}) {
    Toy part;
    const TrainingResult result = train(part, options(steps), context("parts"));
    EXPECT_EQ(result.step, steps);
    EXPECT_EQ(result.tokens, 5 * steps);
    weights = part.weights();
  }
  EXPECT_EQ(weights, whole.weights());
  for (int step = 1; step <= 20; ++step) {
    const std::string begin = fmt::format("{{\"step\":{},\"kind\":\"train\"", step);
    const auto line_of = [&begin](const std::string& text) {
      const std::size_t at = text.find(begin);
      return at == std::string::npos ? "none" : text.substr(at, text.find('\n', at) - at);
    };
    EXPECT_EQ(line_of(metrics("parts")), line_of(metrics("whole")));
    EXPECT_NE(line_of(metrics("whole")), "none");
  }
}

// Steps that a killed process logged after its last checkpoint are made again: their old lines must go.
TEST_F(Loop, MetricsBeyondTheCheckpointAreDroppedOnResume) {
  Toy first;
  train(first, options(5), context("run"));
  append_line(temporary_.path() / "run" / "metrics.jsonl", "{\"step\":6,\"kind\":\"train\",\"loss\":99}");
  append_line(temporary_.path() / "run" / "metrics.jsonl", "{\"step\":7,\"kin");
  Toy second;
  // The torn line is the last one and has no end.
  fs::resize_file(temporary_.path() / "run" / "metrics.jsonl",
                  fs::file_size(temporary_.path() / "run" / "metrics.jsonl") - 1);
  train(second, options(8), context("run"));
  EXPECT_THAT(metrics("run"), ::testing::Not(HasSubstr("\"loss\":99}")));
  EXPECT_THAT(metrics("run"), ::testing::Not(HasSubstr("\"kin\n")));
  EXPECT_THAT(metrics("run"), HasSubstr("{\"step\":8,\"kind\":\"train\""));
}

TEST_F(Loop, EachProcessWritesAnEventFileWhereThatWasAskedFor) {
  const fs::path events = temporary_.path() / "run" / "tensorboard";
  Toy silent;
  train(silent, options(3), context("run"));
  EXPECT_FALSE(fs::exists(events));
  for (const std::int64_t steps : {5, 8}) {
    Toy toy;
    TrainingOptions watched = options(steps);
    watched.loop.tensorboard = true;
    train(toy, watched, context("run"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(events), {}), 2);
  for (const fs::directory_entry& file : fs::directory_iterator(events)) {
    EXPECT_THAT(read_file(file.path()), HasSubstr("train/learning_rate"));
    EXPECT_THAT(read_file(file.path()), HasSubstr("evaluation/error"));
  }
}

// T26: a NaN gradient is named, and neither weights nor a checkpoint are touched by it.
TEST_F(Loop, ANanGradientStopsWithStepAndTensor) {
  Toy toy;
  toy.nan_gradient_at = 6;
  try {
    train(toy, options(20), context("run"));
    FAIL();
  } catch (const CheckFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("step 7: the gradient of bias is not finite"));
  }
  EXPECT_EQ(checkpoint::checkpoint_steps(temporary_.path() / "run"), (std::vector<std::int64_t>{5}));
  Toy good;
  train(good, options(20), context("good"));
  EXPECT_NE(toy.weights(), good.weights());
  for (const float weight : toy.weights()) EXPECT_TRUE(std::isfinite(weight));
}

TEST_F(Loop, ANanLossIsSkippedWhenThatWasAskedFor) {
  Toy toy;
  toy.nan_loss_at = 3;
  TrainingOptions skip = options(10);
  skip.loop.on_nan = OnNan::Skip;
  const TrainingResult result = train(toy, skip, context("run"));
  EXPECT_EQ(result.skipped_steps, 1);
  EXPECT_EQ(result.step, 10);
  EXPECT_THAT(metrics("run"), HasSubstr("{\"step\":4,\"kind\":\"train\",\"loss\":null"));
}

TEST_F(Loop, ASignalStopsAfterTheStepWithACheckpointAndTheRunGoesOn) {
  Toy whole;
  train(whole, options(20), context("whole"));
  Toy stopped;
  stopped.raise_at = 8;
  const TrainingResult result = train(stopped, options(20), context("run"));
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.signal, "SIGTERM");
  EXPECT_EQ(result.step, 9);
  EXPECT_EQ(result.checkpoint.filename(), "checkpoint-9");
  Toy rest;
  EXPECT_FALSE(train(rest, options(20), context("run")).interrupted);
  EXPECT_EQ(rest.weights(), whole.weights());
}

TEST_F(Loop, ACheckpointOfAnotherConfigurationIsRefused) {
  Toy first;
  train(first, options(5), context("run"));
  TrainingContext other = context("run");
  other.identity.config_hash = "other";
  Toy second;
  EXPECT_THROW(train(second, options(10), other), ConfigError);
}

// T35: the newest checkpoint is damaged; the one before it is used, and the lost steps are made again.
TEST_F(Loop, ADamagedCheckpointFallsBackToTheOneBefore) {
  Toy whole;
  train(whole, options(20), context("whole"));
  Toy first;
  train(first, options(10), context("run"));
  const fs::path weights = temporary_.path() / "run" / "checkpoint-10" / "model.safetensors";
  fs::resize_file(weights, fs::file_size(weights) - 1);
  Toy second;
  train(second, options(20), context("run"));
  EXPECT_EQ(second.weights(), whole.weights());
}

TEST_F(Loop, ARunWhoseCheckpointsAreAllDamagedIsNotStartedAnew) {
  Toy first;
  TrainingOptions all = options(5);
  train(first, all, context("run"));
  const fs::path state = temporary_.path() / "run" / "checkpoint-5" / "trainer" / "state.json";
  write_file_atomically(state, "{}");
  Toy second;
  EXPECT_THROW(train(second, options(10), context("run")), DataError);
}

TEST_F(Loop, OnlyTheNewestAndTheBestCheckpointsStay) {
  Toy toy;
  train(toy, options(20), context("run"));
  const std::vector<std::int64_t> steps = checkpoint::checkpoint_steps(temporary_.path() / "run");
  ASSERT_GE(steps.size(), 2U);
  EXPECT_EQ(steps.back(), 20);
  EXPECT_LE(steps.size(), 3U);
}

TEST_F(Loop, ARunOfNoStepsLeavesACheckpointOfTheStart) {
  Toy toy;
  const TrainingResult result = train(toy, options(0), context("run"));
  EXPECT_EQ(result.checkpoint.filename(), "checkpoint-0");
}

}  // namespace
}  // namespace eflops::train
