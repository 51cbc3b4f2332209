#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace eflops::comm {

/// A named piece of memory under /dev/shm that other processes of this user can map. Names say which process made them,
/// so that what a killed one leaves behind can be told from what is in use. Movable.
class ShmSegment {
 public:
  ShmSegment() = default;
  /// Makes and maps zeroed memory; the space is reserved at once. CommError says what is needed and what is free, if
  /// /dev/shm cannot hold it. Removed with the object.
  static ShmSegment create(std::int64_t bytes);
  /// Maps another process's segment. CommError names it and the reason.
  static ShmSegment open(const std::string& name, std::int64_t bytes);
  ~ShmSegment();
  ShmSegment(ShmSegment&& other) noexcept;
  ShmSegment& operator=(ShmSegment&& other) noexcept;

  const std::string& name() const { return name_; }
  std::byte* data() const { return data_; }
  std::int64_t size() const { return size_; }

 private:
  void release() noexcept;

  std::string name_;
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
  bool owner_ = false;
};

/// Bytes that new segments may still take; 0 where /dev/shm does not tell.
std::int64_t shm_free_bytes();

/// Removes the segments whose process has ended, of this user and process name space; returns how many. Segments of
/// living processes stay.
int remove_dead_segments();

}  // namespace eflops::comm
