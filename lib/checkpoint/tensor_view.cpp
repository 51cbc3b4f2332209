#include "checkpoint/tensor_view.h"

#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bfloat16.h"
#include "base/error.h"

namespace eflops::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors stores little-endian values");

struct Dtype {
  std::string_view name;
  std::int64_t size;
};

constexpr std::array kDtypes = {Dtype{"F64", 8},     Dtype{"F32", 4},     Dtype{"F16", 2}, Dtype{"BF16", 2},
                                Dtype{"I64", 8},     Dtype{"I32", 4},     Dtype{"I16", 2}, Dtype{"I8", 1},
                                Dtype{"U64", 8},     Dtype{"U32", 4},     Dtype{"U16", 2}, Dtype{"U8", 1},
                                Dtype{"F8_E4M3", 1}, Dtype{"F8_E5M2", 1}, Dtype{"BOOL", 1}};

/// IEEE binary16 to float, exact.
float half_to_float(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  if (exponent == 0) return std::copysign(std::ldexp(static_cast<float>(fraction), -24), sign != 0 ? -1.0F : 1.0F);
  const auto wide = static_cast<std::uint32_t>(exponent == 0x1F ? 0xFF : exponent + 112);
  return std::bit_cast<float>(sign | (wide << 23) | (static_cast<std::uint32_t>(fraction) << 13));
}

template <typename Stored, typename Convert>
void convert_all(std::span<const std::byte> bytes, std::span<float> out, Convert convert) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(value);
  }
}

}  // namespace

std::int64_t dtype_size(std::string_view dtype) {
  for (const Dtype& known : kDtypes)
    if (known.name == dtype) return known.size;
  return 0;
}

std::string known_dtypes() {
  std::vector<std::string_view> names;
  for (const Dtype& known : kDtypes) names.push_back(known.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string shape_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count)) return -1;
  return count;
}

void copy_as_float(const TensorView& tensor, std::span<float> out) {
  const std::int64_t count = element_count(tensor.shape);
  if (count != static_cast<std::int64_t>(out.size()))
    throw DataError("tensor {} has shape {} = {} elements, expected {}", tensor.name, shape_text(tensor.shape), count,
                    out.size());
  EFLOPS_CHECK(count * dtype_size(tensor.dtype) == static_cast<std::int64_t>(tensor.bytes.size()), "{}", tensor.name);
  if (tensor.dtype == "F32") {
    if (!out.empty()) std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  } else if (tensor.dtype == "BF16") {
    convert_all<bf16>(tensor.bytes, out, [](bf16 value) { return to_float(value); });
  } else if (tensor.dtype == "F16") {
    convert_all<std::uint16_t>(tensor.bytes, out, half_to_float);
  } else if (tensor.dtype == "F64") {
    convert_all<double>(tensor.bytes, out, [](double value) { return static_cast<float>(value); });
  } else {
    throw DataError("tensor {} has dtype {}, expected F32, BF16, F16 or F64", tensor.name, tensor.dtype);
  }
}

TensorView float_view(std::string name, std::vector<std::int64_t> shape, std::span<const float> values) {
  EFLOPS_CHECK(element_count(shape) == static_cast<std::int64_t>(values.size()), "{} {} holds {} values", name,
               shape_text(shape), values.size());
  return {.name = std::move(name), .dtype = "F32", .shape = std::move(shape), .bytes = std::as_bytes(values)};
}

}  // namespace eflops::checkpoint
