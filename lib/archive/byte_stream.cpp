#include "archive/byte_stream.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "archive/decoder.h"
#include "base/error.h"

namespace eflops::archive {
namespace {

struct PlainDecoder : ByteStream::Decoder {
  using Decoder::Decoder;
  std::size_t read(std::span<char> out) override {
    const auto bytes = file->peek();
    const std::size_t count = std::min(bytes.size(), out.size());
    if (count > 0) std::memcpy(out.data(), bytes.data(), count);
    file->consume(count);
    return count;
  }
  Compression compression() const override { return Compression::None; }
};

bool begins(std::span<const char> bytes, std::string_view magic) {
  return std::string_view(bytes.data(), bytes.size()).starts_with(magic);
}

/// A zstd frame, or a skippable frame before one (RFC 8878, 3.1).
bool is_zstd(std::span<const char> bytes) {
  using namespace std::string_view_literals;
  return begins(bytes, "\x28\xB5\x2F\xFD"sv) ||
         (bytes.size() >= 4 && (bytes[0] & 0xF0) == 0x50 && begins(bytes.subspan(1), "\x2A\x4D\x18"sv));
}

void refuse_other_compressions(std::span<const char> bytes, const std::string& name) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, const char*> kinds[] = {{"BZh"sv, "bzip2"},
                                                            {"\xFD"
                                                             "7zXZ\0"sv,
                                                             "xz"},
                                                            {"PK\x03\x04"sv, "zip"},
                                                            {"7z\xBC\xAF\x27\x1C"sv, "7z"}};
  for (const auto& [magic, kind] : kinds)
    if (begins(bytes, magic)) throw DataError("{}: {} is not read here; unpack it, or use gzip or zstd", name, kind);
}

std::unique_ptr<ByteStream::Decoder> open_decoder(const std::string& name) {
  using namespace std::string_view_literals;
  auto file = std::make_unique<RawFile>(name);
  const auto first = file->peek(6);
  if (begins(first, "\x1F\x8B"sv)) return make_gzip_decoder(std::move(file));
  if (is_zstd(first)) return make_zstd_decoder(std::move(file));
  refuse_other_compressions(first, file->name());
  return std::make_unique<PlainDecoder>(std::move(file));
}

}  // namespace

const char* compression_name(Compression compression) {
  switch (compression) {
    case Compression::None:
      return "plain";
    case Compression::Gzip:
      return "gzip";
    case Compression::Zstd:
      return "zstd";
  }
  return "?";
}

ByteStream::ByteStream(const std::string& file) : decoder_(open_decoder(file)) {}
ByteStream::~ByteStream() = default;
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&&) noexcept = default;

std::size_t ByteStream::read(std::span<char> out) { return out.empty() ? 0 : decoder_->read(out); }
Compression ByteStream::compression() const { return decoder_->compression(); }
const std::string& ByteStream::name() const { return decoder_->file->name(); }
std::uint64_t ByteStream::file_offset() const { return decoder_->file->offset(); }
std::uint64_t ByteStream::file_size() const { return decoder_->file->size(); }

}  // namespace eflops::archive
