#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace eflops::archive {

/// The bytes of a file, or of standard input ("-"), as they lie there, through one buffer that can be looked into
/// before it is consumed. Not thread-safe.
class RawFile {
 public:
  /// DataError when the file cannot be opened or is a folder.
  explicit RawFile(const std::string& name);
  ~RawFile();
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  /// Bytes not consumed yet, at least `wanted` of them (up to kMostWanted) unless the file ends before.
  std::span<const char> peek(std::size_t wanted = 1);
  void consume(std::size_t bytes);

  /// Bytes consumed so far.
  std::uint64_t offset() const { return offset_; }
  /// Size on disk; 0 where it is not known (pipes).
  std::uint64_t size() const { return size_; }
  /// The file name, or "standard input".
  const std::string& name() const { return name_; }

  static constexpr std::size_t kMostWanted = 64;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace eflops::archive
