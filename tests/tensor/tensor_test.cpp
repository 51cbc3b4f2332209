#include "tensor/tensor.h"

#include <gtest/gtest.h>

namespace eflops::tensor {
namespace {

TEST(Shape, CountsElementsRowsAndColumns) {
  const Shape shape{3, 4, 5};
  EXPECT_EQ(shape.elements(), 60);
  EXPECT_EQ(shape.rows(), 3);
  EXPECT_EQ(shape.row_elements(), 20);
  EXPECT_EQ(shape.to_string(), "[3, 4, 5]");
  EXPECT_EQ(shape.with_rows(7), (Shape{7, 4, 5}));
}

TEST(Shape, RefusesNegativeDimensionsAndUnknownAxes) {
  EXPECT_THROW((Shape{2, -1}), InternalError);
  EXPECT_THROW((Shape{2, 3}[2]), InternalError);
}

TEST(Tensor, StartsAtACacheLine) {
  for (const std::int64_t rows : {1, 3, 1000, 2'000'000}) {
    const Tensor tensor(Shape{rows, 3}, DType::F32);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.raw()) % static_cast<std::uintptr_t>(kAlignment), 0U);
  }
}

TEST(Tensor, CopiesShareElements) {
  Tensor first = Tensor::zeros(Shape{2, 2}, DType::F32);
  const Tensor second = first;
  first.data<float>()[3] = 5;
  EXPECT_EQ(second.data<float>()[3], 5);
}

TEST(Tensor, AViewOfRowsSharesAndOutlivesTheWhole) {
  Tensor whole = Tensor::zeros(Shape{4, 3}, DType::BF16);
  whole.data<bf16>()[2 * 3 + 1] = to_bf16(2);
  Tensor rows = whole.row_range(2, 4);
  whole = {};
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(to_float(rows.data<bf16>()[1]), 2);
  EXPECT_THROW(rows.row_range(1, 3), InternalError);
}

TEST(Tensor, ReshapeKeepsElementsAndRefusesOthers) {
  Tensor tensor = Tensor::zeros(Shape{2, 6}, DType::I32);
  tensor.data<std::int32_t>()[7] = 9;
  EXPECT_EQ(tensor.reshaped({3, 4}).data<std::int32_t>()[7], 9);
  EXPECT_THROW(tensor.reshaped({5, 2}), InternalError);
}

TEST(Tensor, TheWrongElementTypeIsRefused) {
  const Tensor tensor(Shape{1}, DType::F32);
  EXPECT_THROW(tensor.data<bf16>(), InternalError);
}

TEST(Tensor, OnlyATailViewKeepsThePadding) {
  const Tensor tensor(allocate_bytes(64 * 4), Shape{40}, DType::F32, 64);
  EXPECT_EQ(tensor.row_range(8, 40).padded_rows(), 56);
  EXPECT_EQ(tensor.row_range(8, 16).padded_rows(), 8);
}

}  // namespace
}  // namespace eflops::tensor
