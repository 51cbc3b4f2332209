#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace eflops::tensor {

/// Every buffer starts at a multiple of this many bytes: one cache line, one AVX-512 vector.
inline constexpr std::int64_t kAlignment = 64;

/// The smallest multiple of `multiple` that is at least `value`.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// A shared, aligned block of uninitialised bytes; large blocks ask the kernel for huge pages.
/// Throws std::bad_alloc.
std::shared_ptr<std::byte> allocate_bytes(std::int64_t bytes);

/// A cheap handle to a contiguous row-major array: copying a Tensor copies the handle, never the elements. Views share
/// the storage and keep it alive. No arithmetic lives here. Not synchronised: two threads may not write the same
/// elements.
class Tensor {
 public:
  /// Empty: no elements, no storage.
  Tensor() = default;
  /// A new buffer of its own; elements are uninitialised.
  Tensor(const Shape& shape, DType dtype);
  /// A new buffer of its own, all zero.
  static Tensor zeros(const Shape& shape, DType dtype);
  /// Wraps storage someone else laid out; `padded_rows` >= rows promises that so many rows may be read and written.
  Tensor(std::shared_ptr<std::byte> data, const Shape& shape, DType dtype, std::int64_t padded_rows);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t rows() const { return shape_.rank() == 0 ? 0 : shape_.rows(); }
  /// Elements of one row.
  std::int64_t columns() const { return shape_.rank() == 0 ? 0 : shape_.row_elements(); }
  std::int64_t elements() const { return shape_.rank() == 0 ? 0 : shape_.elements(); }
  std::int64_t bytes() const { return elements() * bytes_of(dtype_); }
  bool empty() const { return elements() == 0; }
  /// Rows that may be touched, rows() included: the rest is padding an operation may compute along
  /// (Arena::allocate_rows).
  std::int64_t padded_rows() const { return padded_rows_; }

  /// Pointer to the first element; InternalError when T is not the tensor's type.
  template <typename T>
  T* data() const {
    EFLOPS_CHECK(kDTypeOf<T> == dtype_, "tensor {} is {}", shape_.to_string(), dtype_name(dtype_));
    return reinterpret_cast<T*>(data_.get());
  }
  template <typename T>
  std::span<T> values() const {
    return {data<T>(), static_cast<std::size_t>(elements())};
  }
  std::byte* raw() const { return data_.get(); }

  /// Rows [begin, end) of the same storage. Only a view that ends at the last row keeps the padding.
  Tensor row_range(std::int64_t begin, std::int64_t end) const;
  /// The same elements under another shape of equally many elements. Drops the padding unless the rows stay.
  Tensor reshaped(const Shape& shape) const;

 private:
  std::shared_ptr<std::byte> data_;
  Shape shape_;
  DType dtype_ = DType::F32;
  std::int64_t padded_rows_ = 0;
};

/// Calls body(float{}) or body(bf16{}) by dtype: how code above the kernels reaches their overloads.
template <typename Body>
void for_float_type(DType dtype, Body&& body) {
  EFLOPS_CHECK(dtype != DType::I32, "a floating type is needed, not {}", dtype_name(dtype));
  if (dtype == DType::F32)
    body(float{});
  else
    body(bf16{});
}

}  // namespace eflops::tensor
