#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "ops/onednn_compat.h"
#include "tensor/dtype.h"

namespace eflops::ops {

/// Everything that distinguishes one matrix product C [m, n] (+)= A [m, k]·B [k, n] (+ bias) from another.
struct MatmulKey {
  enum class Weights { Packed, Plain };  ///< B in the layout oneDNN asks for, or as it lies
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_row = 0, a_column = 0;  ///< strides of A, in elements
  std::int64_t b_row = 0, b_column = 0;  ///< strides of B as it lies
  std::int64_t c_row = 0;
  tensor::DType input = tensor::DType::F32;
  tensor::DType output = tensor::DType::F32;
  Weights weights = Weights::Plain;
  bool bias = false;
  bool accumulate = false;

  friend auto operator<=>(const MatmulKey&, const MatmulKey&) = default;
};

struct Matmul {
  dnnl::matmul primitive;
  dnnl::memory::desc a, b, c, bias;
  std::string implementation;
};

dnnl::memory::data_type onednn_type(tensor::DType dtype);
/// B [k, n] of `key` as it lies in memory, with elements of `dtype`.
dnnl::memory::desc weights_as_stored(const MatmulKey& key, tensor::DType dtype);

/// The primitives made so far, the least recently used dropped beyond a fixed number: making one compiles code and
/// takes milliseconds.
class MatmulCache {
 public:
  static constexpr std::size_t kCapacity = 512;
  /// The reference holds until the next call.
  const Matmul& find_or_make(const MatmulKey& key);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Matmul matmul;
    std::list<MatmulKey>::iterator place;
  };
  std::map<MatmulKey, Entry> entries_;
  std::list<MatmulKey> recent_;  // front: used last
};

}  // namespace eflops::ops
