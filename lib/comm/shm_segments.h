#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>

#include "comm/shm_layout.h"
#include "comm/shm_segment.h"

namespace eflops::comm {

/// The segments that a rank has made for its data, entered in its Control so that peers can map them.
class OwnSegments : public std::enable_shared_from_this<OwnSegments> {
 public:
  explicit OwnSegments(Control& control) : control_(control) {}
  /// New zeroed memory; the segment goes with the last pointer. CommError if /dev/shm is full or 64 segments live.
  std::shared_ptr<std::byte> allocate(std::int64_t bytes);
  /// Nothing if the bytes are not all in one segment.
  std::optional<SharedPlace> find(std::span<const std::byte> bytes) const;

 private:
  Control& control_;
  std::array<ShmSegment, Control::kSegments> segments_;
};

/// A peer's segments as this rank has mapped them.
class PeerSegments {
 public:
  explicit PeerSegments(const Control& control) : control_(control) {}
  /// `bytes` bytes at a place of the peer; maps the segment at its first use. CommError if they lie outside of it.
  std::byte* bytes_of(const SharedPlace& place, std::int64_t bytes);

 private:
  struct Mapped {
    std::uint64_t generation = 0;
    ShmSegment segment;
  };
  const Control& control_;
  std::map<std::uint32_t, Mapped> mapped_;
};

}  // namespace eflops::comm
