#pragma once

#include <algorithm>
#include <cstdint>

namespace eflops::kernels {

/// Whether results stay in the caches or go past them.
enum class Store : std::uint8_t { Cached, Streaming };

/// Bytes of a line of cache: what a store past the caches should fill as a whole.
inline constexpr std::int64_t kLineBytes = 64;

/// How many of the first `n` elements at `p` lie before the first whole line; all where no element begins a line.
inline std::int64_t elements_to_line(const void* p, std::int64_t element_bytes, std::int64_t n) {
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % kLineBytes);
  const std::int64_t missing = past == 0 ? 0 : kLineBytes - past;
  return missing % element_bytes == 0 ? std::min(missing / element_bytes, n) : n;
}

}  // namespace eflops::kernels
