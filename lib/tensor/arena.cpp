#include "tensor/arena.h"

#include <algorithm>
#include <cstring>

namespace eflops::tensor {

Arena::Arena(std::int64_t block_bytes) : block_bytes_(round_up(std::max(block_bytes, kAlignment), kAlignment)) {}

std::shared_ptr<std::byte> Arena::take(std::int64_t bytes) {
  bytes = round_up(std::max<std::int64_t>(bytes, 1), kAlignment);
  // A block too small for this request is skipped; reset() ends that.
  while (position_.block < blocks_.size() && blocks_[position_.block].bytes - position_.offset < bytes) {
    ++position_.block;
    position_.offset = 0;
  }
  if (position_.block == blocks_.size()) {
    const std::int64_t size = std::max(bytes, block_bytes_);
    blocks_.push_back({allocate_bytes(size), size});
  }
  const Block& block = blocks_[position_.block];
  std::shared_ptr<std::byte> data(block.data, block.data.get() + position_.offset);
  position_.offset += bytes;
  position_.used += bytes;
  peak_ = std::max(peak_, position_.used);
  return data;
}

Tensor Arena::allocate(const Shape& shape, DType dtype) {
  return {take(shape.elements() * bytes_of(dtype)), shape, dtype, shape.rank() == 0 ? 0 : shape.rows()};
}

Tensor Arena::allocate_rows(const Shape& shape, DType dtype) {
  const std::int64_t rows = padded(shape.rows());
  const std::int64_t row_bytes = shape.row_elements() * bytes_of(dtype);
  Tensor tensor(take(rows * row_bytes), shape, dtype, rows);
  std::memset(tensor.raw() + tensor.bytes(), 0, static_cast<std::size_t>((rows - shape.rows()) * row_bytes));
  return tensor;
}

void Arena::rewind(const Mark& mark) {
  EFLOPS_CHECK(mark.used <= position_.used, "rewinding forward: {} > {} bytes", mark.used, position_.used);
  position_ = mark;
}

void Arena::reset() {
  rewind({});
  if (blocks_.size() <= 1) return;
  blocks_.clear();
  // An eighth more, so that a slightly larger batch does not start it all again; untouched pages cost nothing.
  const std::int64_t size = round_up(peak_ + peak_ / 8, kAlignment);
  blocks_.push_back({allocate_bytes(size), size});
}

std::int64_t Arena::reserved_bytes() const {
  std::int64_t total = 0;
  for (const Block& block : blocks_) total += block.bytes;
  return total;
}

}  // namespace eflops::tensor
