#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "archive/byte_stream.h"

namespace eflops::archive {

/// The lines of a plain, gzip or zstd file, or of standard input ("-"); memory is bounded by the longest line.
/// Not thread-safe.
class LineReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

  explicit LineReader(const std::string& file, std::size_t longest_line = kLongestLine);

  /// The next line without its '\n', valid until the next call; false at the end. A last line without '\n' counts, an
  /// empty rest does not. DataError as ByteStream, and for a line longer than the limit.
  bool next(std::string_view& line);

  /// Of the line last returned, from 1.
  std::int64_t line_number() const { return line_number_; }
  const ByteStream& stream() const { return stream_; }

 private:
  void fill();

  ByteStream stream_;
  std::size_t longest_line_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::int64_t line_number_ = 0;
};

}  // namespace eflops::archive
