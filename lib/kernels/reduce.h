#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace eflops::kernels {

/// What the elements of a collective are.
enum class Element : std::uint8_t { F32, F64, BF16, F16, I8, U8, I32, U32, I64, U64 };
inline constexpr Element kElements[] = {Element::F32, Element::F64, Element::BF16, Element::F16, Element::I8,
                                        Element::U8,  Element::I32, Element::U32,  Element::I64, Element::U64};

/// How two contributions become one.
enum class Reduction : std::uint8_t { Sum, Product, Min, Max, Average };
inline constexpr Reduction kReductions[] = {Reduction::Sum, Reduction::Product, Reduction::Min, Reduction::Max,
                                            Reduction::Average};

std::int64_t bytes_of(Element element);
/// "f32", "bf16", "u8" ...
std::string_view element_name(Element element);
/// The element of that name, ours or one that nccl-tests and other tools use: "float", "half", "int8" ...
std::optional<Element> find_element(std::string_view name);
/// "sum", "prod", "min", "max", "avg".
std::string_view reduction_name(Reduction reduction);

/// out[i] = a[i] reduced with b[i], for n elements that need not be aligned; `out` may be `a` or `b`, but not overlap
/// them in part. An element has the same bits wherever it stands.
///
/// bf16 and f16 are computed in float and rounded once, to nearest even. Integers wrap around (modulo 2^bits), on every
/// instruction set. Min and max: NaN wins, -0 < +0. Average adds; average_of ends it.
void reduce(Reduction reduction, Element element, const void* a, const void* b, void* out, std::int64_t n);

/// x[i] = x[i] / ranks, the last step of an average: floats rounded once, integers truncated toward zero.
void average_of(Element element, void* x, std::int64_t n, int ranks);

}  // namespace eflops::kernels
