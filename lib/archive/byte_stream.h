#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace eflops::archive {

enum class Compression { None, Gzip, Zstd };

/// "plain", "gzip", "zstd".
const char* compression_name(Compression compression);

/// The content of a plain, gzip (any number of members) or zstd (any number of frames) file, in order, in constant
/// memory. Compression is told by the first bytes, never by the name; "-" is standard input. Not thread-safe.
class ByteStream {
 public:
  /// DataError when the file cannot be opened, or is compressed in a way that is not read here (bzip2, xz, zip).
  explicit ByteStream(const std::string& file);
  ~ByteStream();
  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;

  /// Fills a part of `out` (at least one byte) and returns its size; 0 at the end. DataError with file and offset when
  /// the compressed data are damaged, fail their checksum or end too early.
  std::size_t read(std::span<char> out);

  Compression compression() const;
  /// The file name, or "standard input".
  const std::string& name() const;
  /// Bytes of the file (compressed, where it is) that were used, and its size: 0 where that is not known.
  std::uint64_t file_offset() const;
  std::uint64_t file_size() const;

  struct Decoder;

 private:
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace eflops::archive
