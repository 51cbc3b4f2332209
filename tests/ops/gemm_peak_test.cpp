#include "ops/gemm_peak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/parallel.h"
#include "ops/engine.h"

namespace eflops::ops {
namespace {

TEST(GemmPeak, MeasuresARateFromItsSamplesWithoutASlowPath) {
  const int before = thread_count();
  const GemmPeak peak = measure_gemm_peak({.dtype = tensor::DType::F32, .threads = 1, .seconds = 0.03});
  ASSERT_FALSE(peak.sample_seconds.empty());
  const double fastest = *std::min_element(peak.sample_seconds.begin(), peak.sample_seconds.end());
  EXPECT_DOUBLE_EQ(peak.flops_per_second, 2.0 * static_cast<double>(peak.m * peak.n * peak.k) / fastest);
  EXPECT_EQ(peak.implementation.find("ref"), std::string::npos) << peak.implementation;
  EXPECT_EQ(thread_count(), before);
}

TEST(GemmPeak, Bf16IsMeasuredWhereNativeAndRefusedWhereEmulated) {
  std::cout << "bf16 is " << bf16_support_name(bf16_support()) << ", oneDNN " << onednn_version() << '\n';
  const GemmPeakOptions options{.dtype = tensor::DType::BF16, .threads = 1, .seconds = 0.03};
  if (bf16_support() == Bf16Support::Native)
    EXPECT_GT(measure_gemm_peak(options).flops_per_second, 0.0);
  else
    EXPECT_THROW(measure_gemm_peak(options), ConfigError);
}

TEST(GemmPeak, NoThreadsAreRefused) {
  EXPECT_THROW(measure_gemm_peak({.dtype = tensor::DType::F32, .threads = 0, .seconds = 0.1}), ConfigError);
}

}  // namespace
}  // namespace eflops::ops
