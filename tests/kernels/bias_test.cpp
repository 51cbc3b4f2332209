#include "kernels/bias.h"

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::stored;

template <typename T>
struct Bias : testing::Test {};
TYPED_TEST_SUITE(Bias, test::StorageTypes);

TYPED_TEST(Bias, AddsToEveryRowAndLeavesTheGapsBetweenRows) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t columns : test::kSizes) {
      const MatrixShape shape{.rows = 3, .columns = columns, .stride = columns + 2};
      std::vector<T> x(static_cast<std::size_t>(3 * shape.stride), stored(1.0F, T{}));
      std::vector<float> bias;
      for (std::int64_t c = 0; c < columns; ++c) bias.push_back(static_cast<float>(c % 30));
      add_bias(x.data(), bias.data(), shape);
      for (std::int64_t i = 0; i < 3 * shape.stride; ++i) {
        const std::int64_t c = i % shape.stride;
        const float expected = c < columns ? 1.0F + static_cast<float>(c % 30) : 1.0F;
        ASSERT_EQ(to_float(x[static_cast<std::size_t>(i)]), expected) << i;
      }
    }
  });
}

// Sums of integers below 2^24 are exact in float in any order, so they are the same for all: 5 + sum over r of (r + c)
// % 7.
TYPED_TEST(Bias, ColumnSumsOfIntegersAreExact) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t rows : {0, 1, 31, 32, 33, 100}) {
      for (const std::int64_t columns : test::kSizes) {
        std::vector<T> x;
        std::vector<float> expected(static_cast<std::size_t>(columns), 5.0F);
        for (std::int64_t i = 0; i < rows * columns; ++i) {
          const auto value = static_cast<float>((i / columns + i % columns) % 7);
          x.push_back(stored(value, T{}));
          expected[static_cast<std::size_t>(i % columns)] += value;
        }
        std::vector<float> sums(static_cast<std::size_t>(columns), 5.0F);
        accumulate_column_sums(x.data(), rows, columns, sums.data());
        ASSERT_EQ(sums, expected) << rows << " x " << columns;
      }
    }
  });
}

TYPED_TEST(Bias, ColumnSumsHaveTheSameBitsForAnyThreadsAndColumn) {
  using T = TypeParam;
  const auto x = test::random_values<T>(333 * 130, 1);
  test::expect_same_bits_for_any_threads([&] {
    std::vector<float> sums(130);
    accumulate_column_sums(x.data(), 333, 130, sums.data());
    return sums;
  });
  test::on_every_target([&] {
    std::vector<float> whole(130), piece(11);
    accumulate_column_sums(x.data(), 333, 130, whole.data());
    accumulate_column_sums(x.data() + 5, MatrixShape{.rows = 333, .columns = 11, .stride = 130}, piece.data());
    EXPECT_TRUE(test::same_bits(piece.data(), whole.data() + 5, 11));
  });
}

}  // namespace
}  // namespace eflops::kernels
