#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "nn/parameter_store.h"
#include "nn/pass.h"
#include "tests/support/finite_difference.h"
#include "tests/support/reference_ops.h"

/// Compares a layer with a double reference of its forward, and its gradients with central differences of that
/// reference.
namespace eflops::nn {

using reference::Ids;
using reference::Values;
using tensor::DType;
using tensor::Tensor;

/// Parameters by name, in double.
using NamedValues = std::map<std::string, Values>;

inline Values random_values(std::int64_t count, std::uint64_t stream, double deviation = 1.0) {
  Random random(5, Purpose::Test, stream);
  Values values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(deviation * random.normal());
  return values;
}

inline Tensor to_tensor(tensor::Arena& arena, const Values& values, std::int64_t columns, DType dtype) {
  const Tensor result = arena.allocate_rows({std::ssize(values) / columns, columns}, dtype);
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    const auto value = static_cast<float>(values[static_cast<std::size_t>(i)]);
    if (dtype == DType::F32)
      result.data<float>()[i] = value;
    else
      result.data<bf16>()[i] = to_bf16(value);
  }
  return result;
}

inline Tensor id_tensor(const Ids& ids) {
  const Tensor result(tensor::Shape{std::ssize(ids)}, DType::I32);
  std::ranges::copy(ids, result.data<std::int32_t>());
  return result;
}

inline Values to_values(const Tensor& tensor) {
  Values values;
  tensor::for_float_type(tensor.dtype(), [&](auto type) {
    using T = decltype(type);
    for (const T value : tensor.values<T>()) values.push_back(static_cast<double>(to_float(value)));
  });
  return values;
}

/// ||a - b|| / ||b||.
inline double relative_distance(const Values& a, const Values& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference) / std::max(std::sqrt(size), 1e-300);
}

/// A store with random parameters, arenas and a pass over sequences of given lengths.
class LayerCheck {
 public:
  explicit LayerCheck(std::vector<std::int32_t> lengths) {
    for (const std::int32_t length : lengths) {
      offsets.push_back(offsets.back() + length);
      sample_keys.push_back(1000 + sample_keys.size());
    }
    row_keys.resize(static_cast<std::size_t>(offsets.back()));
    fill_row_keys(offsets, sample_keys, row_keys);
  }

  /// After the layer has registered: random parameters near what the layer would start with, scaled up so that
  /// everything matters.
  void start(double deviation = 0.3) {
    store.initialise(1, 1.0);
    std::uint64_t stream = 100;
    for (const Parameter& parameter : store.parameters()) {
      const double mean = parameter.init == Init::Ones ? 1.0 : 0.0;
      const Values values = random_values(parameter.elements(), stream++, deviation);
      for (std::size_t i = 0; i < values.size(); ++i)
        store.values_of(parameter)[i] = static_cast<float>(mean + values[i]);
    }
    store.refresh();
    gradients.assign(static_cast<std::size_t>(store.size()), 0.0F);
    store.bind_gradients(gradients.data());
  }

  Pass pass(Mode mode = Mode::Train) {
    return {.mode = mode,
            .kept = kept,
            .scratch = scratch,
            .offsets = offsets,
            .row_keys = row_keys,
            .on_ready = [this](const ParameterRef& parameter) { ready.push_back(parameter.info().name); }};
  }

  NamedValues parameters() const {
    NamedValues all;
    for (const Parameter& parameter : store.parameters()) {
      const auto values = store.values_of(parameter);
      all[parameter.name] = Values(values.begin(), values.end());
    }
    return all;
  }
  Values gradient(const std::string& name) const {
    const Parameter& parameter = *store.find(name);
    const auto* first = gradients.data() + parameter.offset;
    return {first, first + parameter.elements()};
  }

  /// Every gradient in the buffer against differences of objective(parameters); relative to its norm, or to `floor`.
  void expect_gradients(const std::function<double(const NamedValues&)>& objective, double tolerance,
                        double floor = 1e-3) const {
    const NamedValues at = parameters();
    for (const auto& [name, values] : at) {
      const Values expected = differences(
          [&](const Values& moved) {
            NamedValues all = at;
            all[name] = moved;
            return objective(all);
          },
          values);
      expect_close(gradient(name), expected, tolerance, floor, name);
    }
  }

  static Values differences(const std::function<double(const Values&)>& f, Values x, double h = 1e-5) {
    Values result;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double at = x[i];
      x[i] = at + h;
      const double above = f(x);
      x[i] = at - h;
      const double below = f(x);
      x[i] = at;
      result.push_back((above - below) / (2.0 * h));
    }
    return result;
  }

  static void expect_close(const Values& actual, const Values& expected, double tolerance, double floor,
                           const std::string& what) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
      size += expected[i] * expected[i];
    }
    EXPECT_LE(std::sqrt(difference), tolerance * std::max(std::sqrt(size), floor)) << what;
  }

  void expect_every_parameter_ready_once() const {
    std::vector<std::string> names;
    for (const Parameter& parameter : store.parameters()) names.push_back(parameter.name);
    std::vector<std::string> told = ready;
    std::ranges::sort(names);
    std::ranges::sort(told);
    EXPECT_EQ(told, names);
  }

  ParameterStore store;
  tensor::Arena kept, scratch;
  std::vector<std::int32_t> offsets{0};
  std::vector<std::uint64_t> sample_keys, row_keys;
  std::vector<float> gradients;
  std::vector<std::string> ready;
};

/// Tolerances relative to a tensor's norm: f32 rounding; bf16 with 8 bits, several roundings deep.
struct Precision {
  DType dtype;
  double tolerance;
};
inline constexpr Precision kF32{DType::F32, 1e-5};
inline constexpr Precision kBf16{DType::BF16, 4e-2};

inline std::string precision_name(const ::testing::TestParamInfo<Precision>& info) {
  return std::string(tensor::dtype_name(info.param.dtype));
}

}  // namespace eflops::nn
