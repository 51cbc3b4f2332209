#include "kernels/embedding.h"

#include "base/error.h"
#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

using test::stored;
using test::to_double;

template <typename T>
struct Embedding : testing::Test {};
TYPED_TEST_SUITE(Embedding, test::StorageTypes);

TYPED_TEST(Embedding, SumsItsThreeRows) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t columns : test::kSizes) {
      const auto word = test::random_values<float>(10 * columns, 1);
      const auto position = test::random_values<float>(4 * columns, 2);
      const auto segment = test::random_values<float>(2 * columns, 3);
      const std::vector<std::int32_t> words = {9, 0, 5}, positions = {0, 1, 3}, segments = {0, 0, 1};
      std::vector<T> out(static_cast<std::size_t>(3 * columns));
      embedding_sum(EmbeddingSum<T>{.word = {{word.data(), 10}, words.data()},
                                    .position = {{position.data(), 4}, positions.data()},
                                    .segment = {{segment.data(), 2}, segments.data()},
                                    .tokens = 3,
                                    .columns = columns,
                                    .out = out.data()});
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto n = static_cast<std::size_t>(columns);
        const auto at = [&](const std::vector<float>& table, const std::vector<std::int32_t>& ids) {
          return table[static_cast<std::size_t>(ids[i / n]) * n + i % n];
        };
        const float sum = at(word, words) + at(position, positions) + at(segment, segments);
        ASSERT_EQ(out[i], stored(sum, T{})) << i;
      }
    }
  });
}

TEST(EmbeddingFloat, AnIdOutsideItsTableIsNamed) {
  const std::vector<float> table(8);
  std::vector<float> out(4);
  const std::vector<std::int32_t> good = {1};
  for (const std::int32_t bad : {-1, 2}) {
    const EmbeddingLookup right{{table.data(), 2}, good.data()};
    const EmbeddingSum<float> op{.word = right,
                                 .position = {{table.data(), 2}, &bad},
                                 .segment = right,
                                 .tokens = 1,
                                 .columns = 4,
                                 .out = out.data()};
    EXPECT_THROW(embedding_sum(op), InternalError) << bad;
  }
}

TYPED_TEST(Embedding, GradientsOfRepeatedRowsAddUp) {
  using T = TypeParam;
  test::on_every_target([] {
    for (const std::int64_t columns : test::kSizes) {
      if (columns == 0) continue;
      const auto d_y = test::random_values<T>(50 * columns, 4);
      std::vector<std::int32_t> ids;
      for (std::int32_t i = 0; i < 50; ++i) ids.push_back(i * i % 7);
      std::vector<float> d_table(static_cast<std::size_t>(7 * columns), 1.0F);
      accumulate_rows(d_y.data(), ids.data(), 50, columns, d_table.data());
      reference::Values expected(d_table.size(), 1.0);
      reference::lookup_backward(to_double(d_y), ids, static_cast<std::size_t>(columns), expected);
      test::expect_close(d_table, expected, 1e-5);  // up to 50 terms of order 1, each rounded by 6e-8 of a sum below 50
    }
  });
}

TYPED_TEST(Embedding, GatherAndScatterMoveRowsExactly) {
  using T = TypeParam;
  const std::vector<std::int32_t> rows = {4, 1};
  const auto x = test::random_values<T>(5 * 9, 5);
  const RowIndex index{.rows = rows.data(), .count = 2, .columns = 9};
  std::vector<T> y(18);
  gather_rows(x.data(), index, y.data());
  EXPECT_TRUE(test::same_bits(y.data(), x.data() + 36, 9));
  EXPECT_TRUE(test::same_bits(y.data() + 9, x.data() + 9, 9));
  std::vector<T> back(45);
  scatter_rows(y.data(), index, back.data());
  for (std::size_t i = 0; i < 45; ++i) {
    const bool moved = i / 9 == 4 || i / 9 == 1;
    ASSERT_EQ(back[i], moved ? x[i] : T{}) << i;
  }
}

TYPED_TEST(Embedding, ScatterAddKeepsWhatIsThereAndAddsRepeats) {
  using T = TypeParam;
  const std::vector<std::int32_t> rows = {1, 1, 0};
  std::vector<T> y, x(20, stored(1.0F, T{}));
  for (int i = 0; i < 30; ++i) y.push_back(stored(static_cast<float>(i / 10 + 1), T{}));  // rows of 1, 2 and 3
  test::on_every_target([&] {
    auto sum = x;
    scatter_add_rows(y.data(), RowIndex{.rows = rows.data(), .count = 3, .columns = 10}, sum.data());
    for (std::size_t i = 0; i < 20; ++i) ASSERT_EQ(to_float(sum[i]), 4.0F);  // 1 + 3, and 1 + 1 + 2
  });
}

TYPED_TEST(Embedding, ResultsDoNotDependOnThreads) {
  using T = TypeParam;
  const auto d_y = test::random_values<T>(300 * 200, 6);
  std::vector<std::int32_t> ids;
  for (std::int32_t i = 0; i < 300; ++i) ids.push_back(i % 3);
  test::expect_same_bits_for_any_threads([&] {
    std::vector<float> d_table(600);
    accumulate_rows(d_y.data(), ids.data(), 300, 200, d_table.data());
    std::vector<T> sum(600);
    scatter_add_rows(d_y.data(), RowIndex{.rows = ids.data(), .count = 300, .columns = 200}, sum.data());
    for (const T value : sum) d_table.push_back(to_float(value));
    return d_table;
  });
}

}  // namespace
}  // namespace eflops::kernels
