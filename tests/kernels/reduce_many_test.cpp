#include "kernels/reduce_many.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/kernels/reduce_cases.h"

namespace eflops::kernels {
namespace {

using test::bit_patterns;
using test::same;

constexpr std::int64_t kBefore = 1;  // elements in front of each buffer, so that nothing is aligned

template <typename T>
using Buffers = std::vector<std::vector<T>>;

template <typename T>
Buffers<T> inputs_of(std::size_t count, std::int64_t n) {
  Buffers<T> inputs;
  for (std::size_t k = 0; k < count; ++k) inputs.push_back(bit_patterns<T>(n + kBefore + 1, 31 + k));
  return inputs;
}

template <typename Pointer, typename T>
std::vector<Pointer> data_of(Buffers<T>& buffers) {
  std::vector<Pointer> pointers;
  for (std::vector<T>& buffer : buffers) pointers.push_back(buffer.data() + kBefore);
  return pointers;
}

/// One element by plain C++; 16-bit floats in float with one rounding, which three inputs make visible.
template <typename T>
T answer(Reduction reduction, const Buffers<T>& inputs, std::size_t i) {
  const auto ranks = inputs.size();
  const auto in_order = [&](auto value_of) {
    auto v = value_of(inputs[0][i]);
    for (std::size_t k = 1; k < ranks; ++k) v = test::wanted(reduction, v, value_of(inputs[k][i]));
    return v;
  };
  const bool divides = reduction == Reduction::Average;
  if constexpr (std::is_same_v<T, f16>) {
    const float v = in_order([](f16 x) { return static_cast<float>(eflops::test::half_value(x.bits)); });
    return {eflops::test::nearest_half(static_cast<double>(divides ? v / static_cast<float>(ranks) : v))};
  } else if constexpr (std::is_same_v<T, bf16>) {
    const float v = in_order([](bf16 x) { return to_float(x); });
    return to_bf16(divides ? v / static_cast<float>(ranks) : v);
  } else {
    const T v = in_order([](T x) { return x; });
    if (!divides) return v;
    if constexpr (std::is_floating_point_v<T>) {
      return v / static_cast<T>(ranks);
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(std::int64_t{v} / static_cast<std::int64_t>(ranks));
    } else {
      return static_cast<T>(std::uint64_t{v} / ranks);
    }
  }
}

template <typename T>
void expect_answers(Reduction reduction, const Buffers<T>& inputs, const std::vector<T>& output,
                    const std::vector<T>& before, const std::string& what) {
  for (std::size_t i = 0; i < output.size(); ++i) {
    const bool inside = i >= kBefore && i + 1 < output.size();
    ASSERT_TRUE(same(output[i], inside ? answer(reduction, inputs, i) : before[i]))
        << reduction_name(reduction) << " " << what << " at " << i;
  }
}

template <typename T>
class ReduceMany : public testing::Test {};
TYPED_TEST_SUITE(ReduceMany, test::EveryElement);

TYPED_TEST(ReduceMany, EqualsPlainArithmeticInOrder) {
  using T = typename TypeParam::Type;
  test::on_every_target([] {
    for (const Reduction reduction : kReductions) {
      for (const std::int64_t n : test::kSizes) {
        for (const std::size_t count : {1U, 2U, 3U, 5U}) {
          Buffers<T> inputs = inputs_of<T>(count, n);
          const std::vector<T> before = bit_patterns<T>(n + kBefore + 1, 7);
          Buffers<T> outputs(2, before);
          reduce_many(reduction, TypeParam::element, data_of<const void*>(inputs), data_of<void*>(outputs), n);
          const std::string what = fmt::format("n={} of {}", n, count);
          for (const std::vector<T>& output : outputs) expect_answers(reduction, inputs, output, before, what);
        }
      }
    }
  });
}

TYPED_TEST(ReduceMany, MayWriteOverItsInputs) {
  using T = typename TypeParam::Type;
  test::on_every_target([] {
    for (const Reduction reduction : kReductions) {
      for (const Store how : {Store::Cached, Store::Streaming}) {
        const Buffers<T> inputs = inputs_of<T>(3, 333);
        Buffers<T> buffers = inputs;
        reduce_many(reduction, TypeParam::element, data_of<const void*>(buffers), data_of<void*>(buffers), 333, how);
        for (std::size_t k = 0; k < buffers.size(); ++k) {
          expect_answers(reduction, inputs, buffers[k], inputs[k], "in place");
        }
      }
    }
  });
}

// Sizes of several lines with heads and tails of every length: outputs start at each element of a line.
TYPED_TEST(ReduceMany, PastTheCachesHasTheSameBitsAtEveryAlignment) {
  using T = typename TypeParam::Type;
  constexpr auto kLine = static_cast<std::int64_t>(kLineBytes / sizeof(T));
  test::on_every_target([] {
    for (const Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Average}) {
      for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, kLine - 1, kLine, 5 * kLine + 3, 300 + kLine}) {
        Buffers<T> inputs = inputs_of<T>(2, n);
        const std::vector<const void*> in = data_of<const void*>(inputs);
        std::vector<T> expected(static_cast<std::size_t>(n + 1));
        reduce_many(reduction, TypeParam::element, in, std::vector<void*>{expected.data()}, n);
        for (std::int64_t start = 0; start < kLine; ++start) {
          const std::vector<T> before(static_cast<std::size_t>(n + start + 1));
          Buffers<T> outputs(2, before);
          const std::vector<void*> out = {outputs[0].data() + start, outputs[1].data() + start};
          reduce_many(reduction, TypeParam::element, in, out, n, Store::Streaming);
          for (std::vector<T>& output : outputs) {
            ASSERT_TRUE(test::same_bits(output.data() + start, expected.data(), static_cast<std::size_t>(n)))
                << reduction_name(reduction) << " n=" << n << " start " << start;
            std::copy_n(before.begin() + start, n, output.begin() + start);
            ASSERT_TRUE(test::same_bits(output, before)) << "written outside, n=" << n << " start " << start;
          }
        }
      }
    }
  });
}

// No element begins a line of cache, or the outputs do at different elements: there is no way past the caches.
TEST(ReduceManyStreaming, TakesOutputsOfAnyAlignment) {
  test::on_every_target([] {
    const std::vector<double> a(100, 1.5);
    const std::vector<double> b(100, 2.25);
    std::vector<std::byte> odd(100 * sizeof(double) + 1);
    std::vector<double> aligned(101);
    reduce_many(Reduction::Sum, Element::F64, std::vector<const void*>{a.data(), b.data()},
                std::vector<void*>{odd.data() + 1, aligned.data() + 1}, 100, Store::Streaming);
    for (std::size_t i = 0; i < 100; ++i) {
      double value = 0;
      std::memcpy(&value, odd.data() + 1 + i * sizeof(double), sizeof(double));
      ASSERT_EQ(value, 3.75) << i;
      ASSERT_EQ(aligned[i + 1], 3.75) << i;
    }
  });
}

}  // namespace
}  // namespace eflops::kernels
