#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "comm/shm_layout.h"
#include "comm/transport.h"

namespace eflops::comm {

/// What a transport offers whose ranks see each other's memory, besides moving messages. Errors as the transport's.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;

  /// This rank's board, which it alone writes. CommError once the transport has failed.
  virtual Board& board() = 0;
  virtual const Board& board_of(int peer) = 0;
  /// Where bytes of this rank lie for the others; nothing if they are not from allocate().
  virtual std::optional<SharedPlace> place_of(std::span<const std::byte> bytes) const = 0;
  /// `bytes` bytes of a peer, which may be read and written. CommError if there are none.
  virtual std::byte* bytes_of(int peer, const SharedPlace& place, std::int64_t bytes) = 0;
  /// Returns when `counter`, which `peer` raises, is at least `least`; what the peer wrote before is visible then.
  virtual void wait_until(int peer, const std::atomic<std::uint64_t>& counter, std::uint64_t least,
                          Deadline deadline) = 0;
};

}  // namespace eflops::comm
