#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ops/gemm.h"
#include "tensor/arena.h"
#include "tensor/tensor.h"

namespace eflops::ops {

using tensor::Arena;
using tensor::DType;
using tensor::Tensor;

/// How a Linear multiplies.
enum class LinearImplementation {
  Sgemm,      ///< f32: dnnl_sgemm, no set-up cost for a new batch size
  Primitive,  ///< oneDNN primitives, cached by shape over row-padded operands, weights packed as oneDNN asks
  Emulated,   ///< bf16 operands rounded, multiplied in f32, results rounded
};

/// f32: Sgemm. bf16: Primitive where bf16_support() is native, else Emulated.
LinearImplementation default_implementation(DType dtype);
/// "sgemm", "primitive", "emulated".
std::string_view implementation_name(LinearImplementation implementation);

/// K inputs, N outputs.
struct LinearShape {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
};

/// The f32 master weights [N, K] and bias [N] (null: none). Copies made from them are renewed when `version` changes.
struct LinearWeights {
  const float* weight = nullptr;
  const float* bias = nullptr;
  std::uint64_t version = 0;
};

/// The three matrix products of a fully connected layer, Y = X·Wᵀ + b. X and its gradient have the compute type, Y may
/// be f32 beside bf16. A matrix may have longer rows than the layer needs (`row_stride`): the rest means nothing.
/// Accumulation is in f32. Driven by one thread at a time.
class Linear {
 public:
  Linear(const LinearShape& shape, DType dtype);
  /// With an implementation of choice, for tests and measurements; ConfigError where this CPU lacks it.
  Linear(const LinearShape& shape, DType dtype, LinearImplementation implementation);
  ~Linear();
  Linear(Linear&&) noexcept;
  Linear& operator=(Linear&&) noexcept;

  const LinearShape& shape() const;
  DType dtype() const;

  /// Y [T, N] = X [T, K]·Wᵀ + bias.
  void forward(const Tensor& x, const LinearWeights& weights, const Tensor& y, Arena& scratch);
  /// d_X [T, K] = d_Y [T, N]·W; added to d_X when it accumulates.
  void backward_data(const Tensor& d_y, const LinearWeights& weights, const Tensor& d_x, Accumulate accumulate,
                     Arena& scratch);
  /// d_W [N, K] += d_Yᵀ·X, in f32.
  void backward_weights(const Tensor& x, const Tensor& d_y, float* d_weight, Arena& scratch);

  /// What oneDNN chose for the products run so far, e.g. "gemm:jit"; an implementation named "ref" is a slow path.
  std::string implementation_names() const;

  class Path;

 private:
  std::unique_ptr<Path> path_;
};

/// Elements between row starts for a matrix that GEMM will read transposed: rows at multiples of 1 KiB would share a
/// few cache sets, and packing would run at half speed, so such rows get one cache line more.
std::int64_t row_stride(std::int64_t columns, DType dtype);

}  // namespace eflops::ops
