#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace eflops::comm {

// What the processes of one server share: each rank owns one control segment that holds a Control and one Channel for
// each rank that may send to it. Plain memory under atomics that are lock-free between processes.

/// How a receiver comes by the bytes of a slot.
enum class Carrier : std::uint32_t {
  Inline,   ///< they lie in the slot
  Shared,   ///< in a segment of the sender, at `where`
  Process,  ///< in the sender's own memory, at the address `where`
};

/// One piece of a message.
struct Slot {
  static constexpr std::size_t kInlineBytes = 208;
  std::int64_t message_bytes = 0;  ///< of the whole message
  std::int64_t offset = 0;         ///< of this piece in it
  std::int64_t bytes = 0;
  Carrier carrier = Carrier::Inline;
  std::uint32_t segment = 0;  ///< index in the sender's table
  std::uint64_t where = 0;
  std::uint64_t generation = 0;  ///< of the segment
  std::array<std::byte, kInlineBytes> data;
};
static_assert(sizeof(Slot) == 256);

/// A queue with one writer and one reader. Slot k mod kSlots is valid for the reader while taken <= k < posted.
struct Channel {
  static constexpr std::uint64_t kSlots = 32;
  alignas(64) std::atomic<std::uint64_t> posted{0};  ///< by the sender
  alignas(64) std::atomic<std::uint64_t> taken{0};   ///< by the receiver; then the sender may use the bytes again
  alignas(64) std::array<Slot, kSlots> slots;
};

/// A segment of the rank that others may map; valid before a slot speaks of it.
struct SegmentEntry {
  std::uint64_t generation = 0;
  std::int64_t bytes = 0;
  std::array<char, 112> name{};
};

struct Control {
  static constexpr std::size_t kSegments = 64;
  static constexpr std::size_t kReasonBytes = 500;
  std::atomic<std::uint32_t> failure{0};  ///< 0 none, 1 being written, 2 written
  std::array<char, kReasonBytes> reason{};
  std::array<SegmentEntry, kSegments> segments{};
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// Offset of the channel from `sender` in a control segment.
constexpr std::int64_t channel_offset(int sender) {
  constexpr std::int64_t kControlBytes = (static_cast<std::int64_t>(sizeof(Control)) + 63) / 64 * 64;
  return kControlBytes + sender * static_cast<std::int64_t>(sizeof(Channel));
}
constexpr std::int64_t control_bytes(int ranks) { return channel_offset(ranks); }

}  // namespace eflops::comm
