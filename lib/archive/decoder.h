#pragma once

#include <memory>
#include <span>
#include <string>

#include "archive/byte_stream.h"
#include "archive/raw_file.h"

namespace eflops::archive {

/// What ByteStream reads through, one implementation a compression.
struct ByteStream::Decoder {
  explicit Decoder(std::unique_ptr<RawFile> raw) : file(std::move(raw)) {}
  virtual ~Decoder() = default;
  virtual std::size_t read(std::span<char> out) = 0;
  virtual Compression compression() const = 0;

  std::unique_ptr<RawFile> file;
};

std::unique_ptr<ByteStream::Decoder> make_gzip_decoder(std::unique_ptr<RawFile> file);
std::unique_ptr<ByteStream::Decoder> make_zstd_decoder(std::unique_ptr<RawFile> file);

}  // namespace eflops::archive
