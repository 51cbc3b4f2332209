#include "kernels/dropout.h"

#include "base/error.h"
#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

std::vector<std::uint64_t> keys(std::int64_t rows, std::uint64_t seed = 1) {
  Random random(seed, Purpose::Test);
  std::vector<std::uint64_t> result;
  for (std::int64_t i = 0; i < rows; ++i) result.push_back(random.next_u64());
  return result;
}

template <typename T>
struct DropoutTest : testing::Test {};
TYPED_TEST_SUITE(DropoutTest, test::StorageTypes);

TYPED_TEST(DropoutTest, HasTheBitsOfTheScalarRule) {
  using T = TypeParam;
  const auto row_keys = keys(5);
  const float p = 0.3F;
  const Dropout dropout{.probability = p, .salt = 0xFEDCBA9876543210ULL, .row_keys = row_keys.data()};
  const float scale = 1.0F / (1.0F - p);
  test::on_every_target([&] {
    for (const std::int64_t columns : test::kSizes) {
      const MatrixShape shape{.rows = 5, .columns = columns, .stride = columns + 1};
      const auto x = test::random_values<T>(5 * shape.stride, 2);
      auto y = x;
      dropout_forward(x.data(), y.data(), shape, dropout);
      for (std::int64_t i = 0; i < 5 * shape.stride; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t row = i / shape.stride;
        const std::int64_t column = i % shape.stride;
        T expected = x[at];  // between the rows
        if (column < columns) {
          const float factor = reference::kept(dropout, row, column) ? scale : 0.0F;
          expected = test::stored(to_float(x[at]) * factor, T{});
        }
        ASSERT_TRUE(test::same_bits(&y[at], &expected, 1)) << row << ", " << column;
      }
    }
  });
}

TYPED_TEST(DropoutTest, BackwardUsesTheMaskOfForward) {
  using T = TypeParam;
  const auto row_keys = keys(4);
  const Dropout dropout{.probability = 0.5F, .salt = 7, .row_keys = row_keys.data()};
  const MatrixShape shape{.rows = 4, .columns = 100};
  const std::vector<T> ones(400, test::stored(1.0F, T{}));
  std::vector<T> y(400), d_x(400);
  dropout_forward(ones.data(), y.data(), shape, dropout);
  dropout_backward(ones.data(), d_x.data(), shape, dropout);
  EXPECT_TRUE(test::same_bits(y, d_x));
  for (const T value : y) ASSERT_TRUE(to_float(value) == 0.0F || to_float(value) == 2.0F);
}

TEST(Dropout, ProbabilityZeroCopiesAndNeedsNoKeys) {
  const auto x = test::random_values<float>(70, 3);
  std::vector<float> y(70);
  dropout_forward(x.data(), y.data(), MatrixShape{.rows = 7, .columns = 10}, Dropout{});
  EXPECT_TRUE(test::same_bits(x, y));
}

TEST(Dropout, ProbabilityOutsideItsRangeIsRefused) {
  std::vector<float> x(1);
  for (const float p : {-0.1F, 1.0F, test::kNaN}) {
    const Dropout dropout{.probability = p};
    EXPECT_THROW(dropout_forward(x.data(), x.data(), MatrixShape{.rows = 1, .columns = 1}, dropout), InternalError)
        << p;
  }
}

/// Kept elements among rows x columns ones.
std::int64_t count_kept(const Dropout& dropout, std::int64_t rows, std::int64_t columns) {
  std::vector<float> x(static_cast<std::size_t>(rows * columns), 1.0F);
  dropout_forward(x.data(), x.data(), MatrixShape{.rows = rows, .columns = columns}, dropout);
  return std::count_if(x.begin(), x.end(), [](float v) { return v != 0.0F; });
}

TEST(Dropout, KeepsTheShareAskedFor) {
  // 256,000 draws: 5 standard deviations of the share are 5 sqrt(p (1 - p) / 256000) < 0.005.
  const auto row_keys = keys(1000);
  for (const float p : {0.1F, 0.5F, 0.9F}) {
    const Dropout dropout{.probability = p, .salt = 1, .row_keys = row_keys.data()};
    EXPECT_NEAR(static_cast<double>(count_kept(dropout, 1000, 256)) / 256000.0, 1.0 - p, 0.005);
  }
}

TEST(Dropout, MasksOfOtherRowsAndSaltsAreIndependent) {
  // Two independent masks at p = 0.5 agree on half of 10,000 elements, 5 standard deviations being 250.
  const auto row_keys = keys(2);
  const std::vector<float> ones(20000, 1.0F);
  const MatrixShape shape{.rows = 2, .columns = 10000};
  std::vector<float> a(20000), b(20000);
  dropout_forward(ones.data(), a.data(), shape, Dropout{.probability = 0.5F, .salt = 1, .row_keys = row_keys.data()});
  dropout_forward(ones.data(), b.data(), shape, Dropout{.probability = 0.5F, .salt = 2, .row_keys = row_keys.data()});
  int same_rows = 0;
  int same_salts = 0;
  for (std::size_t i = 0; i < 10000; ++i) {
    same_rows += a[i] == a[10000 + i] ? 1 : 0;
    same_salts += a[i] == b[i] ? 1 : 0;
  }
  EXPECT_NEAR(same_rows, 5000, 250);
  EXPECT_NEAR(same_salts, 5000, 250);
}

TEST(Dropout, AFaultyElementShowsEvenIfDropped) {
  const auto row_keys = keys(1);
  std::vector<float> x(64, test::kNaN);
  dropout_forward(x.data(), x.data(), MatrixShape{.rows = 1, .columns = 64},
                  Dropout{.probability = 0.9F, .row_keys = row_keys.data()});
  for (const float value : x) EXPECT_TRUE(std::isnan(value));
}

TEST(Dropout, TheMaskDoesNotDependOnThreads) {
  const auto row_keys = keys(500);
  test::expect_same_bits_for_any_threads([&] {
    std::vector<float> x(500 * 77, 1.0F);
    dropout_forward(x.data(), x.data(), MatrixShape{.rows = 500, .columns = 77},
                    Dropout{.probability = 0.1F, .salt = 5, .row_keys = row_keys.data()});
    return x;
  });
}

}  // namespace
}  // namespace eflops::kernels
