#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/tensor_view.h"

namespace eflops::checkpoint {

/// The longest header a reader of the format accepts (huggingface/safetensors).
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

struct SafetensorsContents {
  std::vector<TensorView> tensors;  ///< in the order of their bytes
  Metadata metadata;
};

/// Splits the bytes of a safetensors file: 8-byte little-endian header length, JSON header, tensor data. Trusts
/// nothing: DataError "`where`: reason" for a file that is too short, a header that is longer than 100 MB, not UTF-8,
/// not an object, has duplicate or unknown keys, a shape times dtype that overflows or disagrees with the offsets,
/// tensors that overlap, leave a hole, or do not end where the file ends. The views point into `file`.
SafetensorsContents parse_safetensors(std::span<const std::byte> file, std::string_view where);

/// The first bytes of a file (length and header padded with spaces to a multiple of 8) for tensors that follow in this
/// order. Two tensors of one name, an unknown dtype or a byte count that is not shape x dtype are InternalErrors.
std::string make_safetensors_header(std::span<const TensorView* const> tensors, const Metadata& metadata);

}  // namespace eflops::checkpoint
