#include "ops/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <type_traits>
#include <vector>

#include "base/random.h"
#include "ops/engine.h"
#include "tests/support/reference_ops.h"

namespace eflops::ops {
namespace {

using tensor::Shape;

struct Case {
  DType dtype;
  LinearImplementation implementation;
};

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return std::string(tensor::dtype_name(info.param.dtype)) + "_" +
         std::string(implementation_name(info.param.implementation));
}

/// One layer with integer operands in {-1, 0, 1}: sums over 70 inputs or outputs stay exact even in bf16 (|x| <= 256).
class LinearContract : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr std::int64_t kInputs = 70;
  static constexpr std::int64_t kOutputs = 37;

  void SetUp() override {
    const bool native = GetParam().dtype == DType::BF16 && GetParam().implementation == LinearImplementation::Primitive;
    if (native && bf16_support() != Bf16Support::Native)
      GTEST_SKIP() << "probed: bf16 is " << bf16_support_name(bf16_support()) << " on this CPU with oneDNN "
                   << onednn_version();
    weight_ = integers(kOutputs * kInputs, 1);
    bias_ = integers(kOutputs, 2);
  }

  static std::vector<double> integers(std::int64_t count, std::uint64_t stream) {
    Random random(1, Purpose::Test, stream);
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(random.below(3)) - 1.0);
    return values;
  }

  /// A matrix whose rows are `extra` longer than its columns, the rest filled with 99.
  Tensor matrix(const std::vector<double>& values, std::int64_t columns, std::int64_t extra) {
    const auto rows = std::ssize(values) / columns;
    const Tensor tensor = arena_.allocate_rows({rows, columns + extra}, GetParam().dtype);
    tensor::for_float_type(tensor.dtype(), [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < tensor.elements(); ++i) {
        const std::int64_t row = i / (columns + extra);
        const std::int64_t column = i % (columns + extra);
        const double value = column < columns ? values[static_cast<std::size_t>(row * columns + column)] : 99.0;
        if constexpr (std::is_same_v<T, float>)
          tensor.data<T>()[i] = static_cast<float>(value);
        else
          tensor.data<T>()[i] = to_bf16(static_cast<float>(value));
      }
    });
    return tensor;
  }

  static std::vector<double> values_of(const Tensor& tensor, std::int64_t columns) {
    std::vector<double> values;
    tensor::for_float_type(tensor.dtype(), [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < tensor.elements(); ++i)
        if (i % tensor.columns() < columns) values.push_back(static_cast<double>(to_float(tensor.data<T>()[i])));
    });
    return values;
  }

  static std::vector<float> narrow(const std::vector<double>& values) { return {values.begin(), values.end()}; }

  LinearWeights weights(std::uint64_t version) {
    weight_f32_ = narrow(weight_);
    bias_f32_ = narrow(bias_);
    return {.weight = weight_f32_.data(), .bias = bias_f32_.data(), .version = version};
  }

  Linear linear() const {
    return {{.inputs = kInputs, .outputs = kOutputs}, GetParam().dtype, GetParam().implementation};
  }

  Arena arena_;
  std::vector<double> weight_, bias_;
  std::vector<float> weight_f32_, bias_f32_;
};

TEST_P(LinearContract, ForwardIsExactForAnyNumberOfRowsAndAnyStride) {
  Linear layer = linear();
  for (const std::int64_t rows : {1, 63, 64, 65, 130}) {
    for (const std::int64_t extra : {0, 5}) {
      const std::vector<double> x = integers(rows * kInputs, 3);
      const Tensor y = matrix(std::vector<double>(static_cast<std::size_t>(rows * kOutputs)), kOutputs, extra);
      layer.forward(matrix(x, kInputs, extra), weights(1), y, arena_);
      EXPECT_EQ(values_of(y, kOutputs), reference::linear(x, weight_, bias_, kInputs)) << rows << ", " << extra;
    }
  }
}

TEST_P(LinearContract, ForwardWritesF32OnRequest) {
  Linear layer = linear();
  const std::vector<double> x = integers(20 * kInputs, 3);
  const Tensor y = arena_.allocate_rows({20, kOutputs}, DType::F32);
  layer.forward(matrix(x, kInputs, 0), weights(1), y, arena_);
  EXPECT_EQ(values_of(y, kOutputs), reference::linear(x, weight_, bias_, kInputs));
}

TEST_P(LinearContract, ANewVersionBringsTheNewWeights) {
  Linear layer = linear();
  const std::vector<double> x = integers(9 * kInputs, 3);
  const Tensor y = matrix(std::vector<double>(9 * kOutputs), kOutputs, 0);
  const Tensor d_x = matrix(std::vector<double>(9 * kInputs), kInputs, 0);
  layer.forward(matrix(x, kInputs, 0), weights(1), y, arena_);
  layer.backward_data(y, weights(1), d_x, Accumulate::No, arena_);
  for (double& value : weight_) value = -value;
  layer.forward(matrix(x, kInputs, 0), weights(2), y, arena_);
  EXPECT_EQ(values_of(y, kOutputs), reference::linear(x, weight_, bias_, kInputs));
  const std::vector<double> d_y = integers(9 * kOutputs, 4);
  layer.backward_data(matrix(d_y, kOutputs, 0), weights(2), d_x, Accumulate::No, arena_);
  EXPECT_EQ(values_of(d_x, kInputs), reference::linear_backward(d_y, x, weight_, kInputs).d_x);
}

TEST_P(LinearContract, BackwardDataReplacesOrAdds) {
  Linear layer = linear();
  for (const std::int64_t rows : {1, 64, 100}) {
    const std::vector<double> x = integers(rows * kInputs, 3);
    const std::vector<double> d_y = integers(rows * kOutputs, 4);
    const std::vector<double> before = integers(rows * kInputs, 5);
    std::vector<double> expected = reference::linear_backward(d_y, x, weight_, kInputs).d_x;
    const Tensor d_x = matrix(before, kInputs, 2);
    layer.backward_data(matrix(d_y, kOutputs, 3), weights(1), d_x, Accumulate::No, arena_);
    EXPECT_EQ(values_of(d_x, kInputs), expected);
    const Tensor sum = matrix(before, kInputs, 2);
    layer.backward_data(matrix(d_y, kOutputs, 3), weights(1), sum, Accumulate::Yes, arena_);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += before[i];
    EXPECT_EQ(values_of(sum, kInputs), expected);
  }
}

TEST_P(LinearContract, BackwardWeightsAddsToWhatIsThere) {
  Linear layer = linear();
  for (const std::int64_t rows : {1, 64, 100}) {
    const std::vector<double> x = integers(rows * kInputs, 3);
    const std::vector<double> d_y = integers(rows * kOutputs, 4);
    std::vector<double> expected = reference::linear_backward(d_y, x, weight_, kInputs).d_weight;
    for (double& value : expected) value += 3.0;
    std::vector<float> d_weight(static_cast<std::size_t>(kOutputs * kInputs), 3.0F);
    layer.backward_weights(matrix(x, kInputs, 1), matrix(d_y, kOutputs, 2), d_weight.data(), arena_);
    EXPECT_EQ(d_weight, narrow(expected));
  }
}

TEST_P(LinearContract, NoProductTakesASlowReferencePath) {
  Linear layer = linear();
  const Tensor x = matrix(integers(128 * kInputs, 3), kInputs, 0);
  const Tensor y = matrix(integers(128 * kOutputs, 4), kOutputs, 0);
  std::vector<float> d_weight(static_cast<std::size_t>(kOutputs * kInputs));
  layer.forward(x, weights(1), y, arena_);
  layer.backward_data(y, weights(1), x, Accumulate::Yes, arena_);
  layer.backward_weights(x, y, d_weight.data(), arena_);
  const std::string names = layer.implementation_names();
  std::cout << "implementations: " << names << '\n';
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(names.find("ref"), std::string::npos) << names;
}

TEST_P(LinearContract, ScratchIsGivenBack) {
  Linear layer = linear();
  const Tensor x = matrix(integers(10 * kInputs, 3), kInputs, 0);
  const Tensor y = matrix(integers(10 * kOutputs, 4), kOutputs, 0);
  Arena scratch;
  std::vector<float> d_weight(static_cast<std::size_t>(kOutputs * kInputs));
  layer.forward(x, weights(1), y, scratch);
  layer.backward_data(y, weights(1), x, Accumulate::Yes, scratch);
  layer.backward_weights(x, y, d_weight.data(), scratch);
  EXPECT_EQ(scratch.used_bytes(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, LinearContract,
                         ::testing::Values(Case{DType::F32, LinearImplementation::Sgemm},
                                           Case{DType::F32, LinearImplementation::Primitive},
                                           Case{DType::BF16, LinearImplementation::Emulated},
                                           Case{DType::BF16, LinearImplementation::Primitive}),
                         case_name);

TEST(Linear, EmulatedBf16RoundsOperandsAndResultOnce) {
  const std::int64_t inputs = 96;
  const std::int64_t outputs = 40;
  Random random(2, Purpose::Test);
  std::vector<float> weight;
  for (std::int64_t i = 0; i < inputs * outputs; ++i) weight.push_back(static_cast<float>(random.normal()));
  Arena arena;
  const Tensor x = arena.allocate_rows({50, inputs}, DType::BF16);
  for (bf16& value : x.values<bf16>()) value = to_bf16(static_cast<float>(random.normal()));
  const Tensor y = arena.allocate_rows({50, outputs}, DType::BF16);
  Linear layer({.inputs = inputs, .outputs = outputs}, DType::BF16, LinearImplementation::Emulated);
  layer.forward(x, {.weight = weight.data(), .bias = nullptr, .version = 1}, y, arena);
  for (std::int64_t row = 0; row < 50; ++row) {
    for (std::int64_t o = 0; o < outputs; ++o) {
      double sum = 0.0;
      double size = 0.0;
      for (std::int64_t i = 0; i < inputs; ++i) {
        const double product = static_cast<double>(to_float(x.data<bf16>()[row * inputs + i])) *
                               static_cast<double>(to_float(to_bf16(weight[static_cast<std::size_t>(o * inputs + i)])));
        sum += product;
        size += std::abs(product);
      }
      // Rounding to 8 significant bits moves a number by at most 2^-8 of it once (two roundings could by twice as much
      // in all); the f32 sum of 96 terms adds little.
      const double tolerance = std::abs(sum) * 0x1.0p-8 + size * 96 * 0x1.0p-24;
      ASSERT_NEAR(static_cast<double>(to_float(y.data<bf16>()[row * outputs + o])), sum, tolerance);
    }
  }
}

TEST(Linear, NoRowsDoNothing) {
  Arena arena;
  std::vector<float> weight(6, 1.0F);
  std::vector<float> d_weight(6, 2.0F);
  for (const auto implementation : {LinearImplementation::Sgemm, LinearImplementation::Primitive}) {
    Linear layer({.inputs = 2, .outputs = 3}, DType::F32, implementation);
    const Tensor x = arena.allocate_rows({0, 2}, DType::F32);
    const Tensor y = arena.allocate_rows({0, 3}, DType::F32);
    layer.forward(x, {.weight = weight.data(), .bias = nullptr, .version = 1}, y, arena);
    layer.backward_weights(x, y, d_weight.data(), arena);
    EXPECT_EQ(d_weight, std::vector<float>(6, 2.0F));
  }
}

TEST(Linear, WrongShapesAreOurFault) {
  Arena arena;
  const std::vector<float> weight(6, 1.0F);
  Linear layer({.inputs = 2, .outputs = 3}, DType::F32);
  const LinearWeights weights{.weight = weight.data(), .bias = nullptr, .version = 1};
  const Tensor x = arena.allocate({4, 2}, DType::F32);
  EXPECT_THROW(layer.forward(x, weights, arena.allocate({4, 2}, DType::F32), arena), InternalError);
  EXPECT_THROW(layer.forward(x, weights, arena.allocate({3, 3}, DType::F32), arena), InternalError);
  EXPECT_THROW(layer.forward(arena.allocate({4, 2}, DType::BF16), weights, x, arena), InternalError);
}

TEST(Linear, AskingForNativeBf16WithoutItIsAnError) {
  if (bf16_support() == Bf16Support::Native) GTEST_SKIP() << "probed: bf16 is native here";
  EXPECT_THROW(Linear({.inputs = 2, .outputs = 3}, DType::BF16, LinearImplementation::Primitive), ConfigError);
}

TEST(Linear, RowStrideAvoidsMultiplesOfOneKibibyte) {
  EXPECT_EQ(row_stride(1024, DType::F32), 1024 + 16);  // 4 KiB
  EXPECT_EQ(row_stride(768, DType::F32), 768 + 16);    // 3 KiB
  EXPECT_EQ(row_stride(768, DType::BF16), 768);        // 1.5 KiB
  EXPECT_EQ(row_stride(512, DType::BF16), 512 + 32);
  EXPECT_EQ(row_stride(100, DType::F32), 100);
}

}  // namespace
}  // namespace eflops::ops
