#pragma once

#include <cstdint>
#include <string_view>

#include "base/bfloat16.h"

namespace eflops::tensor {

/// What a tensor's elements are.
enum class DType { F32, BF16, I32 };

constexpr std::int64_t bytes_of(DType dtype) { return dtype == DType::BF16 ? 2 : 4; }

/// "f32", "bf16", "i32".
std::string_view dtype_name(DType dtype);

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<bf16> {
  static constexpr DType value = DType::BF16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::I32;
};

/// The DType of a C++ element type.
template <typename T>
inline constexpr DType kDTypeOf = DTypeOf<T>::value;

}  // namespace eflops::tensor
