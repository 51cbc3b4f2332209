#include "tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "base/error.h"
#include "tensor/dtype.h"

namespace eflops::tensor {

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return "f32";
    case DType::BF16:
      return "bf16";
    case DType::I32:
      return "i32";
  }
  return "?";
}

Shape::Shape(std::initializer_list<std::int64_t> dimensions) {
  EFLOPS_CHECK(dimensions.size() <= kMaxRank, "rank {}", dimensions.size());
  for (const std::int64_t dimension : dimensions) {
    EFLOPS_CHECK(dimension >= 0, "dimension {}", dimension);
    dimensions_[rank_++] = dimension;
  }
}

std::int64_t Shape::operator[](std::size_t axis) const {
  EFLOPS_CHECK(axis < rank_, "axis {} of {}", axis, to_string());
  return dimensions_[axis];
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < rank_; ++axis) product *= dimensions_[axis];
  return product;
}

std::int64_t Shape::row_elements() const {
  std::int64_t product = 1;
  for (std::size_t axis = 1; axis < rank_; ++axis) product *= dimensions_[axis];
  return product;
}

Shape Shape::with_rows(std::int64_t rows) const {
  EFLOPS_CHECK(rank_ > 0 && rows >= 0, "{} rows of {}", rows, to_string());
  Shape shape = *this;
  shape.dimensions_[0] = rows;
  return shape;
}

std::string Shape::to_string() const {
  return fmt::format("[{}]", fmt::join(std::span(dimensions_.data(), rank_), ", "));
}

}  // namespace eflops::tensor
