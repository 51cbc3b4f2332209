#include "nn/parameter_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"

namespace eflops::nn {
namespace {

TEST(ParameterStore, ParametersStartAtCacheLinesUnlessAdjacent) {
  ParameterStore store;
  store.add({.name = "a", .shape = {3}});
  store.add({.name = "b", .shape = {5, 2}});
  store.add({.name = "c", .shape = {4}, .placement = Placement::Adjacent});
  EXPECT_EQ(store.find("a")->offset, 0);
  EXPECT_EQ(store.find("b")->offset, 16);  // 64 bytes
  EXPECT_EQ(store.find("c")->offset, 26);
  EXPECT_EQ(store.size(), 30);
  EXPECT_EQ(store.parameter_count(), 17);
  EXPECT_EQ(store.find("d"), nullptr);
}

TEST(ParameterStore, InitialValuesFollowTheirKindAndGapsAreZero) {
  ParameterStore store;
  store.add({.name = "w", .shape = {100, 101}});
  store.add({.name = "one", .shape = {3}, .init = Init::Ones});
  store.add({.name = "zero", .shape = {3}, .init = Init::Zeros});
  store.initialise(7, 0.02);
  const auto w = store.values_of(*store.find("w"));
  double sum = 0.0;
  double squares = 0.0;
  for (const float value : w) {
    ASSERT_LE(std::abs(value), 0.04F);  // cut at two deviations
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto n = static_cast<double>(w.size());
  // A normal cut at two deviations has a standard deviation of 0.8796 of the uncut one; n = 10,100 samples estimate it
  // within 0.7 % and the mean within 0.01 deviations (one sigma each): four sigmas are allowed.
  EXPECT_NEAR(sum / n, 0.0, 4 * 0.02 * 0.88 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), 0.02 * 0.8796, 0.02 * 0.88 * 0.03);
  const auto values = store.values();
  double rest = 0.0;
  for (const float value : values) rest += static_cast<double>(value);
  EXPECT_DOUBLE_EQ(rest - sum, 3.0);  // the ones; gaps and zeros add nothing
}

TEST(ParameterStore, DrawsDependOnSeedAndNameNotOnTheRestOrTheThreads) {
  const auto draw = [](std::uint64_t seed, const std::string& before, int threads) {
    const int usual = thread_count();
    set_thread_count(threads);
    ParameterStore store;
    if (!before.empty()) store.add({.name = before, .shape = {9}});
    store.add({.name = "w", .shape = {9000}});
    store.initialise(seed, 1.0);
    set_thread_count(usual);
    const auto values = store.values_of(*store.find("w"));
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_EQ(draw(1, "", 1), draw(1, "other", 3));
  EXPECT_NE(draw(1, "", 1), draw(2, "", 1));
}

TEST(ParameterStore, SegmentsCoverTheBufferByDecay) {
  ParameterStore store;
  store.add({.name = "w", .shape = {20}});
  store.add({.name = "w2", .shape = {20}});
  store.add({.name = "b", .shape = {4}, .init = Init::Zeros, .decays = false});
  store.add({.name = "w3", .shape = {2}});
  const auto segments = store.segments();
  ASSERT_EQ(segments.size(), 3U);
  std::int64_t next = 0;
  for (const auto& segment : segments) {
    EXPECT_EQ(segment.offset, next);
    next += segment.count;
  }
  EXPECT_EQ(next, store.size());
  EXPECT_TRUE(segments[0].decays && !segments[1].decays && segments[2].decays);
}

TEST(ParameterStore, MisuseIsOurFault) {
  ParameterStore store;
  const ParameterRef w = store.add({.name = "w", .shape = {2}});
  EXPECT_THROW(store.add({.name = "w", .shape = {2}}), InternalError);
  store.initialise(1, 0.02);
  EXPECT_THROW(store.add({.name = "late", .shape = {2}}), InternalError);
  EXPECT_THROW(w.gradient(), InternalError);
  std::vector<float> gradients(static_cast<std::size_t>(store.size()));
  store.bind_gradients(gradients.data());
  EXPECT_EQ(w.gradient(), gradients.data());
}

TEST(ParameterStore, RefreshMakesANewVersion) {
  ParameterStore store;
  const ParameterRef w = store.add({.name = "w", .shape = {2}});
  store.initialise(1, 0.02);
  const std::uint64_t before = w.version();
  store.refresh();
  EXPECT_NE(w.version(), before);
}

}  // namespace
}  // namespace eflops::nn
