#pragma once

#include <cstdint>

namespace eflops::kernels {

/// Copies `bytes` bytes, which do not overlap, past the caches: for a copy that is larger than the last-level cache and
/// not read soon, since the memory it replaces need not be read first. Slower than std::memcpy where it fits the
/// caches. Any alignment. Other threads may read it after the usual synchronisation; the stores are fenced.
void copy_streaming(void* to, const void* from, std::int64_t bytes);

}  // namespace eflops::kernels
