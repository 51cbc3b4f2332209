#include "tensor/tensor.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace eflops::tensor {
namespace {

constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

}  // namespace

std::shared_ptr<std::byte> allocate_bytes(std::int64_t bytes) {
  EFLOPS_CHECK(bytes >= 0, "{} bytes", bytes);
  // GEMM walks several large matrices at once: small pages would spend its time in TLB misses.
  const bool huge = bytes >= 2 * kHugePage;
  const std::int64_t alignment = huge ? kHugePage : kAlignment;
  const std::int64_t size = round_up(bytes > 0 ? bytes : 1, alignment);
  void* memory = std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(size));
  if (memory == nullptr) throw std::bad_alloc();
  if (huge) ::madvise(memory, static_cast<std::size_t>(size), MADV_HUGEPAGE);  // advice: a refusal changes only speed
  return {static_cast<std::byte*>(memory), [](std::byte* block) { std::free(block); }};
}

Tensor::Tensor(const Shape& shape, DType dtype)
    : data_(allocate_bytes(shape.elements() * bytes_of(dtype))),
      shape_(shape),
      dtype_(dtype),
      padded_rows_(shape.rank() == 0 ? 0 : shape.rows()) {}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor tensor(shape, dtype);
  std::memset(tensor.raw(), 0, static_cast<std::size_t>(tensor.bytes()));
  return tensor;
}

Tensor::Tensor(std::shared_ptr<std::byte> data, const Shape& shape, DType dtype, std::int64_t padded_rows)
    : data_(std::move(data)), shape_(shape), dtype_(dtype), padded_rows_(padded_rows) {
  EFLOPS_CHECK(padded_rows >= rows(), "{} padded rows of {}", padded_rows, shape.to_string());
}

Tensor Tensor::row_range(std::int64_t begin, std::int64_t end) const {
  EFLOPS_CHECK(0 <= begin && begin <= end && end <= rows(), "rows {} to {} of {}", begin, end, shape_.to_string());
  const std::int64_t offset = begin * columns() * bytes_of(dtype_);
  const std::int64_t padded = end == rows() ? padded_rows_ - begin : end - begin;
  return {std::shared_ptr<std::byte>(data_, data_.get() + offset), shape_.with_rows(end - begin), dtype_, padded};
}

Tensor Tensor::reshaped(const Shape& shape) const {
  EFLOPS_CHECK(shape.elements() == elements(), "{} as {}", shape_.to_string(), shape.to_string());
  const bool same_rows = shape.rank() > 0 && shape.rows() == rows();
  const std::int64_t padded = same_rows ? padded_rows_ : (shape.rank() > 0 ? shape.rows() : 0);
  return {data_, shape, dtype_, padded};
}

}  // namespace eflops::tensor
