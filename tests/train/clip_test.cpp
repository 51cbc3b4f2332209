#include "train/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace eflops::train {
namespace {

/// Three tensors with gaps behind the first two: each starts at a multiple of 16 elements.
class Clip : public ::testing::Test {
 protected:
  Clip() {
    parameters_.add({.name = "first", .shape = {3}});
    parameters_.add({.name = "second", .shape = {20}});
    parameters_.add({.name = "third", .shape = {5}});
    parameters_.initialise(1, 0.02);
    gradients_.resize(static_cast<std::size_t>(parameters_.size()));
  }

  float& gradient(std::string_view name, std::int64_t at) {
    return gradients_[static_cast<std::size_t>(parameters_.find(name)->offset + at)];
  }

  nn::ParameterStore parameters_;
  std::vector<float> gradients_;
};

// 2^2 + 3^2 + 6^2 = 49.
TEST_F(Clip, NormIsOverAllParameters) {
  gradient("first", 2) = 2.0F;
  gradient("second", 19) = -3.0F;
  gradient("third", 0) = 6.0F;
  const GradientReport report = measure_gradients(parameters_, gradients_);
  EXPECT_EQ(report.norm, 7.0);
  EXPECT_EQ(report.nonfinite, "");
}

// Their squares overflow float: 1e30^2 x 2.
TEST_F(Clip, LargeFiniteGradientsHaveAFiniteNorm) {
  gradient("first", 0) = 1e30F;
  gradient("third", 0) = 1e30F;
  const GradientReport report = measure_gradients(parameters_, gradients_);
  EXPECT_NEAR(report.norm, 1.41421356e30, 1e24);
  EXPECT_EQ(report.nonfinite, "");
}

// T26.
TEST_F(Clip, NamesTheFirstTensorThatIsNotFinite) {
  gradient("third", 4) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(measure_gradients(parameters_, gradients_).nonfinite, "third");
  gradient("second", 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(measure_gradients(parameters_, gradients_).nonfinite, "second");
  gradient("first", 2) = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(measure_gradients(parameters_, gradients_).nonfinite, "first");
}

TEST_F(Clip, NamesTheLastElementOfATensorRightly) {
  gradient("second", 19) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(measure_gradients(parameters_, gradients_).nonfinite, "second");
}

TEST_F(Clip, RefusesABufferOfAnotherLayout) {
  gradients_.pop_back();
  EXPECT_THROW(measure_gradients(parameters_, gradients_), InternalError);
}

TEST(ClipScale, ScalesDownOnly) {
  EXPECT_EQ(clip_scale(4.0, 1.0), 0.25);
  EXPECT_EQ(clip_scale(1.0, 1.0), 1.0);
  EXPECT_EQ(clip_scale(0.5, 1.0), 1.0);
  EXPECT_EQ(clip_scale(0.0, 1.0), 1.0);
}

}  // namespace
}  // namespace eflops::train
