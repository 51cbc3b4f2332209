#include "comm/shm_segments.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace eflops::comm {

std::shared_ptr<std::byte> OwnSegments::allocate(std::int64_t bytes) {
  const auto unused =
      std::find_if(segments_.begin(), segments_.end(), [](const auto& s) { return s.data() == nullptr; });
  if (unused == segments_.end()) {
    throw CommError("{} buffers are allocated in shared memory, the most there can be; free one", segments_.size());
  }
  ShmSegment segment = ShmSegment::create(std::max<std::int64_t>(bytes, 1));
  const auto index = static_cast<std::size_t>(unused - segments_.begin());
  SegmentEntry& entry = control_.segments[index];
  EFLOPS_CHECK(segment.name().size() < entry.name.size(), "segment name {}", segment.name());
  std::strcpy(entry.name.data(), segment.name().c_str());
  entry.bytes = segment.size();
  ++entry.generation;
  std::byte* const data = segment.data();
  segments_[index] = std::move(segment);
  return {data, [self = shared_from_this(), index](std::byte*) { self->segments_[index] = ShmSegment(); }};
}

std::optional<SharedPlace> OwnSegments::find(std::span<const std::byte> bytes) const {
  for (std::size_t index = 0; index < segments_.size(); ++index) {
    const ShmSegment& segment = segments_[index];
    if (segment.data() == nullptr || bytes.data() < segment.data() ||
        bytes.data() + bytes.size() > segment.data() + segment.size()) {
      continue;
    }
    return SharedPlace{static_cast<std::uint32_t>(index), control_.segments[index].generation,
                       static_cast<std::uint64_t>(bytes.data() - segment.data())};
  }
  return std::nullopt;
}

std::byte* PeerSegments::bytes_of(const SharedPlace& place, std::int64_t bytes) {
  EFLOPS_CHECK(place.segment < Control::kSegments, "segment {}", place.segment);
  Mapped& mapped = mapped_[place.segment];
  if (mapped.generation != place.generation) {
    const SegmentEntry& entry = control_.segments[place.segment];
    mapped.segment = ShmSegment::open(entry.name.data(), entry.bytes);
    mapped.generation = place.generation;
  }
  const auto end = static_cast<std::int64_t>(place.offset) + bytes;
  if (end > mapped.segment.size()) throw CommError("a peer names bytes to {} of {}", end, mapped.segment.size());
  return mapped.segment.data() + place.offset;
}

}  // namespace eflops::comm
