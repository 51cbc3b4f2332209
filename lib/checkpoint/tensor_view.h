#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eflops::checkpoint {

/// A named tensor whose bytes live elsewhere (a mapped file, a parameter buffer): row-major, little-endian.
struct TensorView {
  std::string name;
  std::string dtype;                ///< as safetensors spells it: "F32", "BF16", "I64" ...
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  std::span<const std::byte> bytes;
};

/// Free text stored beside the tensors. Hugging Face's loaders ask for {"format": "pt"}.
using Metadata = std::map<std::string, std::string>;

/// Bytes of one element, or 0 for a dtype that is not known.
std::int64_t dtype_size(std::string_view dtype);

/// "F64, F32, F16 ...": for error messages.
std::string known_dtypes();

/// "[2, 768]".
std::string shape_text(std::span<const std::int64_t> shape);

/// Number of elements of a shape, or -1 where it exceeds 2^63 - 1. Sizes must not be negative.
std::int64_t element_count(std::span<const std::int64_t> shape);

/// Converts F32, BF16, F16 or F64 elements to float (F64 rounded to nearest); the bytes need no alignment.
/// DataError for another dtype or when `out` has another number of elements.
void copy_as_float(const TensorView& tensor, std::span<float> out);

/// A float buffer as an F32 tensor; its count must be that of the shape (InternalError).
TensorView float_view(std::string name, std::vector<std::int64_t> shape, std::span<const float> values);

}  // namespace eflops::checkpoint
