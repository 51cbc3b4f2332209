#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace eflops::tensor {

/// Up to four dimensions, the first one called rows; row-major. A negative dimension is an InternalError.
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dimensions);

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t axis) const;
  /// Product of all dimensions; 1 for rank 0.
  std::int64_t elements() const;
  /// The first dimension.
  std::int64_t rows() const { return (*this)[0]; }
  /// Product of all dimensions but the first.
  std::int64_t row_elements() const;
  /// The same shape with another first dimension.
  Shape with_rows(std::int64_t rows) const;
  /// "[3, 4]".
  std::string to_string() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, kMaxRank> dimensions_{};
  std::size_t rank_ = 0;
};

}  // namespace eflops::tensor
