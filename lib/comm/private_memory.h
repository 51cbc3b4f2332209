#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace eflops::comm {

/// Zeroed memory of this process alone, aligned to 64 bytes; what transports allocate that gain nothing from memory of
/// their own. Fewer than 1 byte still gives an address.
std::shared_ptr<std::byte> private_memory(std::int64_t bytes);

}  // namespace eflops::comm
