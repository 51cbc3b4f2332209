#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace eflops::comm {

// What the processes of one server share: each rank owns one control segment that holds a Control, a Board and one
// Channel for each rank that may send to it. Plain memory under atomics that are lock-free between processes.

/// Where bytes lie in a rank's own segments.
struct SharedPlace {
  std::uint32_t segment = 0;     ///< index in the rank's table
  std::uint64_t generation = 0;  ///< of the segment
  std::uint64_t offset = 0;
};

/// How a receiver comes by the bytes of a slot.
enum class Carrier : std::uint32_t {
  Inline,   ///< they lie in the slot
  Shared,   ///< in a segment of the sender, at `place`
  Process,  ///< in the sender's own memory, at `address`
};

/// One piece of a message.
struct Slot {
  static constexpr std::size_t kInlineBytes = 192;
  std::int64_t message_bytes = 0;  ///< of the whole message
  std::int64_t offset = 0;         ///< of this piece in it
  std::int64_t bytes = 0;
  Carrier carrier = Carrier::Inline;
  SharedPlace place;          ///< of Shared
  std::uint64_t address = 0;  ///< of Process
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

/// What a rank shows to all others at once, in steps that all ranks take together (one_pass.h). Step number k, from 1
/// on, lies in place k mod 2: who has seen everybody's step k may overwrite step k - 1, for the others took it before.
struct Board {
  static constexpr std::int64_t kPieceBytes = 64 << 10;  ///< small: a /dev/shm can have 1 MiB
  /// One line of cache: little data come with their number.
  struct alignas(64) Step {
    static constexpr std::int64_t kInlineBytes = 48;
    std::atomic<std::uint64_t> number{0};  ///< written last
    std::int64_t total_bytes = 0;          ///< of the whole collective, the same on all ranks
    std::array<std::byte, kInlineBytes> data;
  };
  std::array<Step, 2> steps;
  alignas(64) std::atomic<std::uint64_t> written{0};  ///< how often this rank has written its block everywhere
  alignas(64) std::array<std::array<std::byte, kPieceBytes>, 2> pieces;  ///< more data of each step
};
static_assert(sizeof(Board::Step) == 64);

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// Offset of the board in a control segment.
constexpr std::int64_t board_offset() { return (static_cast<std::int64_t>(sizeof(Control)) + 63) / 64 * 64; }
/// Offset of the channel from `sender` in a control segment.
constexpr std::int64_t channel_offset(int sender) {
  return board_offset() + static_cast<std::int64_t>(sizeof(Board)) +
         sender * static_cast<std::int64_t>(sizeof(Channel));
}
constexpr std::int64_t control_bytes(int ranks) { return channel_offset(ranks); }

}  // namespace eflops::comm
