#include "ops/gemm.h"

#include <gtest/gtest.h>

#include <vector>

namespace eflops::ops {
namespace {

// Small integers: every product and sum is exact in f32, whatever the order.
std::vector<float> integers(std::int64_t count, int seed) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + seed) % 5 - 2));
  return values;
}

struct Case {
  Transpose a, b;
  Accumulate accumulate;
};

class Gemm : public ::testing::TestWithParam<Case> {};

TEST_P(Gemm, EqualsTheSumOfProducts) {
  const GemmShape shape{.m = 5, .n = 7, .k = 11};
  const auto [transpose_a, transpose_b, accumulate] = GetParam();
  // Rows longer than needed by 3: the stride must be honoured.
  const std::int64_t stride_a = (transpose_a == Transpose::Yes ? shape.m : shape.k) + 3;
  const std::int64_t stride_b = (transpose_b == Transpose::Yes ? shape.k : shape.n) + 3;
  const std::int64_t stride_c = shape.n + 3;
  const std::vector<float> a = integers(stride_a * 11, 1);
  const std::vector<float> b = integers(stride_b * 11, 2);
  const std::vector<float> before = integers(stride_c * shape.m, 3);
  std::vector<float> c = before;
  gemm_f32(shape, {.data = a.data(), .stride = stride_a, .transpose = transpose_a},
           {.data = b.data(), .stride = stride_b, .transpose = transpose_b},
           {.data = c.data(), .stride = stride_c, .accumulate = accumulate});
  for (std::int64_t row = 0; row < shape.m; ++row) {
    for (std::int64_t column = 0; column < stride_c; ++column) {
      const auto at = static_cast<std::size_t>(row * stride_c + column);
      float expected = column < shape.n && accumulate == Accumulate::No ? 0.0F : before[at];
      for (std::int64_t k = 0; k < shape.k && column < shape.n; ++k) {
        const auto i = transpose_a == Transpose::Yes ? k * stride_a + row : row * stride_a + k;
        const auto j = transpose_b == Transpose::Yes ? column * stride_b + k : k * stride_b + column;
        expected += a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(j)];
      }
      ASSERT_EQ(c[at], expected) << row << ", " << column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Gemm,
                         ::testing::Values(Case{Transpose::No, Transpose::No, Accumulate::No},
                                           Case{Transpose::No, Transpose::Yes, Accumulate::No},
                                           Case{Transpose::Yes, Transpose::No, Accumulate::Yes},
                                           Case{Transpose::Yes, Transpose::Yes, Accumulate::Yes}));

TEST(GemmEdge, NothingToSumGivesZeroOrKeepsWhatIsThere) {
  std::vector<float> c(6, 5.0F);
  gemm_f32({.m = 2, .n = 2, .k = 0}, {.data = c.data(), .stride = 1}, {.data = c.data(), .stride = 2},
           {.data = c.data(), .stride = 3, .accumulate = Accumulate::Yes});
  EXPECT_EQ(c, std::vector<float>(6, 5.0F));
  gemm_f32({.m = 2, .n = 2, .k = 0}, {.data = c.data(), .stride = 1}, {.data = c.data(), .stride = 2},
           {.data = c.data(), .stride = 3});
  EXPECT_EQ(c, (std::vector<float>{0, 0, 5, 0, 0, 5}));
}

}  // namespace
}  // namespace eflops::ops
