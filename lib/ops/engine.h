#pragma once

#include <string>
#include <string_view>

namespace eflops::ops {

/// How bf16 matrix products run on this CPU with this oneDNN (DESIGN D5).
enum class Bf16Support {
  Native,    ///< oneDNN has bf16 instructions to use: AVX512-BF16 or AMX
  Emulated,  ///< operands rounded to bf16, multiplied in f32, result rounded: the same numerics, slower than f32
};

/// Probed once by asking oneDNN for a bf16 matrix product.
Bf16Support bf16_support();
/// "native", "emulated".
std::string_view bf16_support_name(Bf16Support support);

/// Version of the oneDNN library that runs, e.g. "2.6.3".
std::string onednn_version();

}  // namespace eflops::ops
