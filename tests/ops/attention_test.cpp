#include "ops/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "tests/support/finite_difference.h"
#include "tests/support/reference_ops.h"

namespace eflops::ops {
namespace {

using reference::Values;
using tensor::Arena;
using tensor::DType;
using tensor::Tensor;

struct Problem {
  AttentionOptions options;
  std::vector<std::int32_t> offsets;
  std::vector<std::uint64_t> row_keys;
  std::int64_t width() const { return options.heads * options.head_size; }
  std::int64_t tokens() const { return offsets.back(); }
};

Problem make_problem(const std::vector<std::int32_t>& lengths, float dropout) {
  Problem problem{
      .options = {.heads = 2, .head_size = 4, .dropout = dropout, .salt = 100}, .offsets = {0}, .row_keys = {}};
  for (const std::int32_t length : lengths) problem.offsets.push_back(problem.offsets.back() + length);
  for (std::int32_t row = 0; row < problem.offsets.back(); ++row)
    problem.row_keys.push_back(Random(3, Purpose::Test, static_cast<std::uint64_t>(row)).next_u64());
  return problem;
}

Values random_values(std::int64_t count, std::uint64_t stream) {
  Random random(4, Purpose::Test, stream);
  Values values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(random.normal());
  return values;
}

/// softmax(q·kᵀ/sqrt(d)), dropout, times v, one element at a time in double. qkv is [T, 3H].
Values reference_attention(const Problem& problem, const Values& qkv) {
  const auto width = static_cast<std::size_t>(problem.width());
  const auto size = static_cast<std::size_t>(problem.options.head_size);
  Values context(static_cast<std::size_t>(problem.tokens()) * width);
  for (std::size_t s = 0; s + 1 < problem.offsets.size(); ++s) {
    const auto first = static_cast<std::size_t>(problem.offsets[s]);
    const auto length = static_cast<std::size_t>(problem.offsets[s + 1]) - first;
    for (std::size_t head = 0; head < static_cast<std::size_t>(problem.options.heads); ++head) {
      const auto element = [&](std::size_t row, std::size_t part, std::size_t i) {
        return qkv[(first + row) * 3 * width + part * width + head * size + i];
      };
      Values scores(length * length);
      for (std::size_t q = 0; q < length; ++q)
        for (std::size_t k = 0; k < length; ++k)
          for (std::size_t i = 0; i < size; ++i) scores[q * length + k] += element(q, 0, i) * element(k, 1, i);
      Values p = reference::softmax(scores, length, 1.0 / std::sqrt(static_cast<double>(size))).y;
      p = reference::dropout(p, length,
                             {.probability = problem.options.dropout,
                              .salt = problem.options.salt + head,
                              .row_keys = problem.row_keys.data() + first});
      for (std::size_t q = 0; q < length; ++q)
        for (std::size_t k = 0; k < length; ++k)
          for (std::size_t i = 0; i < size; ++i)
            context[(first + q) * width + head * size + i] += p[q * length + k] * element(k, 2, i);
    }
  }
  return context;
}

/// A tensor with rows longer by `extra` than `columns`.
Tensor matrix(Arena& arena, const Values& values, std::int64_t columns, std::int64_t extra, DType dtype) {
  const std::int64_t rows = std::ssize(values) / columns;
  const Tensor tensor = arena.allocate({rows, columns + extra}, dtype);
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    const std::int64_t at = i / columns * (columns + extra) + i % columns;
    const auto value = static_cast<float>(values[static_cast<std::size_t>(i)]);
    if (dtype == DType::F32)
      tensor.data<float>()[at] = value;
    else
      tensor.data<bf16>()[at] = to_bf16(value);
  }
  return tensor;
}

Values values_of(const Tensor& tensor, std::int64_t columns) {
  Values values;
  tensor::for_float_type(tensor.dtype(), [&](auto type) {
    using T = decltype(type);
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      if (i % tensor.columns() < columns) values.push_back(static_cast<double>(to_float(tensor.data<T>()[i])));
  });
  return values;
}

double largest_difference(const Values& a, const Values& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

struct Results {
  Values context, d_qkv;
};

Results run(const Problem& problem, const Values& qkv, const Values& d_context, DType dtype = DType::F32) {
  Arena arena;
  Arena scratch;
  const std::int64_t width = problem.width();
  const Attention attention(problem.options);
  const AttentionBatch batch{.offsets = problem.offsets, .row_keys = problem.row_keys.data()};
  const Tensor input = matrix(arena, qkv, 3 * width, 5, dtype);
  const Tensor context = matrix(arena, Values(d_context.size(), 7.0), width, 2, dtype);
  attention.forward(input, batch, context, scratch);
  const Tensor d_input = matrix(arena, Values(qkv.size(), 7.0), 3 * width, 5, dtype);
  attention.backward(input, matrix(arena, d_context, width, 2, dtype), batch, d_input, scratch);
  EXPECT_EQ(scratch.used_bytes(), 0);
  return {values_of(context, width), values_of(d_input, 3 * width)};
}

class AttentionParity : public ::testing::TestWithParam<float> {};

TEST_P(AttentionParity, ForwardAndBackwardEqualTheReferenceAndItsDifferences) {
  // T25: an empty sequence between others, and one of a single token.
  const Problem problem = make_problem({5, 0, 1, 9}, GetParam());
  const Values qkv = random_values(problem.tokens() * 3 * problem.width(), 1);
  const Values weights = random_values(problem.tokens() * problem.width(), 2);
  const Results results = run(problem, qkv, weights);
  EXPECT_LT(largest_difference(results.context, reference_attention(problem, qkv)), 2e-6);
  const auto objective = [&](const Values& x) {
    return reference::weighted_sum(reference_attention(problem, x), weights);
  };
  // f32 arithmetic on values near 1; the differences themselves are good to 1e-8.
  EXPECT_LT(reference::gradient_error(objective, qkv, results.d_qkv), 5e-6);
}

INSTANTIATE_TEST_SUITE_P(Dropout, AttentionParity, ::testing::Values(0.0F, 0.25F));

TEST(Attention, LongSequencesRunInSeveralBlocksOfQueries) {
  const Problem problem = make_problem({300, 17}, 0.1F);  // 300 rows of 300 scores exceed one block
  const Values qkv = random_values(problem.tokens() * 3 * problem.width(), 1);
  const Values d_context = random_values(problem.tokens() * problem.width(), 2);
  const Results results = run(problem, qkv, d_context);
  EXPECT_LT(largest_difference(results.context, reference_attention(problem, qkv)), 5e-6);
  // d_context against a direction: the derivative of the reference along it equals d_qkv · direction.
  const Values direction = random_values(std::ssize(qkv), 3);
  const auto along = [&](double step) {
    Values moved = qkv;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
    return reference::weighted_sum(reference_attention(problem, moved), d_context);
  };
  const double expected = (along(1e-6) - along(-1e-6)) / 2e-6;
  EXPECT_NEAR(reference::weighted_sum(results.d_qkv, direction), expected, 1e-4 * std::abs(expected));
}

TEST(Attention, ASequenceDoesNotSeeItsNeighbours) {
  const Problem both = make_problem({6, 120}, 0.0F);  // T46
  const Problem alone = make_problem({6}, 0.0F);
  const Values qkv = random_values(both.tokens() * 3 * both.width(), 1);
  const Values first(qkv.begin(), qkv.begin() + 6 * 3 * both.width());
  const Values d_context = random_values(both.tokens() * both.width(), 2);
  const Values d_first(d_context.begin(), d_context.begin() + 6 * both.width());
  const Results packed = run(both, qkv, d_context);
  const Results single = run(alone, first, d_first);
  EXPECT_TRUE(std::equal(single.context.begin(), single.context.end(), packed.context.begin()));
  EXPECT_TRUE(std::equal(single.d_qkv.begin(), single.d_qkv.end(), packed.d_qkv.begin()));
}

TEST(Attention, BitsDoNotDependOnTheThreadCount) {
  const Problem problem = make_problem({40, 3, 77}, 0.2F);
  const Values qkv = random_values(problem.tokens() * 3 * problem.width(), 1);
  const Values d_context = random_values(problem.tokens() * problem.width(), 2);
  const int before = thread_count();
  set_thread_count(1);
  const Results one = run(problem, qkv, d_context);
  set_thread_count(3);
  const Results three = run(problem, qkv, d_context);
  set_thread_count(before);
  EXPECT_EQ(one.context, three.context);
  EXPECT_EQ(one.d_qkv, three.d_qkv);
}

TEST(Attention, Bf16AgreesWithinItsRounding) {
  const Problem problem = make_problem({12, 5}, 0.0F);
  const Values qkv = random_values(problem.tokens() * 3 * problem.width(), 1);
  const Values d_context = random_values(problem.tokens() * problem.width(), 2);
  const Results narrow = run(problem, qkv, d_context, DType::BF16);
  const Results wide = run(problem, qkv, d_context);
  // Inputs near 3 at most carry 2^-9 relative error; exponents of 10 products of them turn that into a few per cent.
  EXPECT_LT(largest_difference(narrow.context, wide.context), 0.05);
  EXPECT_LT(largest_difference(narrow.d_qkv, wide.d_qkv), 0.2);
}

TEST(Attention, OnlyEmptySequencesDoNothing) {
  const Problem problem = make_problem({0, 0}, 0.0F);
  EXPECT_NO_THROW(run(problem, {}, {}));
}

}  // namespace
}  // namespace eflops::ops
