#include "ops/gemm_peak.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "ops/engine.h"
#include "ops/linear.h"

namespace eflops::ops {
namespace {

using tensor::Shape;

constexpr int kMinRepetitions = 3;

class ThreadCountScope {
 public:
  explicit ThreadCountScope(int threads) : before_(thread_count()) { set_thread_count(threads); }
  ~ThreadCountScope() { set_thread_count(before_); }
  ThreadCountScope(const ThreadCountScope&) = delete;
  ThreadCountScope& operator=(const ThreadCountScope&) = delete;

 private:
  int before_;
};

// Row t of X holds 1 + t % 4 throughout, row n of W holds n % 4 / 4: every element of Y is inputs times their product,
// exactly, in f32 and (inputs of 3 · 2^a or 2^a) in bf16.
float row_value(std::int64_t row) { return static_cast<float>(1 + row % 4); }
float weight_value(std::int64_t row) { return static_cast<float>(row % 4) / 4; }

template <typename T>
T rounded(float value) {
  if constexpr (std::is_same_v<T, bf16>)
    return to_bf16(value);
  else
    return value;
}

void fill(const Tensor& tensor, float (*value)(std::int64_t row)) {
  tensor::for_float_type(tensor.dtype(), [&]<typename T>(T) {
    for (std::int64_t row = 0; row < tensor.rows(); ++row)
      std::fill_n(tensor.data<T>() + row * tensor.columns(), tensor.columns(), rounded<T>(value(row)));
  });
}

void check_product(const Tensor& y, const LinearShape& shape, const std::string& implementation) {
  tensor::for_float_type(y.dtype(), [&]<typename T>(T) {
    for (std::int64_t row = 0; row < y.rows(); ++row)
      for (std::int64_t column = 0; column < shape.outputs; ++column) {
        const auto found = to_float(y.data<T>()[row * y.columns() + column]);
        const float right = static_cast<float>(shape.inputs) * row_value(row) * weight_value(column);
        if (found != right)
          throw CheckFailed("{}: element ({}, {}) of a measured {} product is {}, not {}", implementation, row, column,
                            tensor::dtype_name(y.dtype()), found, right);
      }
  });
}

/// Times one shape for `seconds`; the first run, which packs and compiles, is not counted. Every element of the last
/// product is compared with its value.
GemmPeak measure_shape(std::int64_t rows, const LinearShape& shape, DType dtype, double seconds) {
  Arena arena;
  const Tensor x = arena.allocate_rows({rows, shape.inputs}, dtype);
  const Tensor y = arena.allocate_rows({rows, shape.outputs}, dtype);
  fill(x, row_value);
  const Tensor weights(Shape{shape.outputs, shape.inputs}, DType::F32);
  fill(weights, weight_value);
  Linear linear(shape, dtype);
  const LinearWeights operand{.weight = weights.data<float>(), .bias = nullptr, .version = 1};
  linear.forward(x, operand, y, arena);
  std::fill_n(y.raw(), y.bytes(), std::byte{0xFF});  // NaN: the timed products have to write every element

  GemmPeak peak{.m = rows,
                .n = shape.outputs,
                .k = shape.inputs,
                .implementation = linear.implementation_names(),
                .sample_seconds = {}};
  const Stopwatch total;
  while (std::ssize(peak.sample_seconds) < kMinRepetitions || total.seconds() < seconds) {
    const Stopwatch watch;
    linear.forward(x, operand, y, arena);
    peak.sample_seconds.push_back(watch.seconds());
  }
  check_product(y, shape, peak.implementation);
  const auto operations = static_cast<double>(2 * rows * shape.inputs * shape.outputs);
  peak.flops_per_second = operations / std::max(*std::ranges::min_element(peak.sample_seconds), 1e-9);
  return peak;
}

}  // namespace

GemmPeak measure_gemm_peak(const GemmPeakOptions& options) {
  if (options.threads < 1) throw ConfigError("threads is {}; at least 1 is needed", options.threads);
  if (options.dtype == DType::I32) throw ConfigError("the GEMM peak is measured for f32 and bf16, not i32");
  if (options.dtype == DType::BF16 && bf16_support() != Bf16Support::Native)
    throw ConfigError("this CPU has no bf16 instructions that oneDNN {} can use: there is no bf16 peak to measure",
                      onednn_version());
  const ThreadCountScope scope(options.threads);
  // Which shape is fastest depends on the caches; these are the products of base, mini and a square one.
  const std::array<std::array<std::int64_t, 3>, 3> candidates{
      {{1024, 768, 3072}, {2048, 1024, 256}, {1024, 1024, 1024}}};
  GemmPeak best;
  for (const auto& [rows, inputs, outputs] : candidates) {
    GemmPeak peak = measure_shape(rows, {.inputs = inputs, .outputs = outputs}, options.dtype,
                                  options.seconds / static_cast<double>(candidates.size()));
    if (peak.flops_per_second > best.flops_per_second) best = std::move(peak);
  }
  return best;
}

}  // namespace eflops::ops
