#include <zlib.h>

#include <algorithm>

#include "archive/decoder.h"
#include "base/error.h"

namespace eflops::archive {
namespace {

/// RFC 1952: members one after the other; zlib checks each one's CRC-32 and length.
class GzipDecoder : public ByteStream::Decoder {
 public:
  explicit GzipDecoder(std::unique_ptr<RawFile> raw) : Decoder(std::move(raw)) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw DataError("{}: no memory for gzip", file->name());
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  Compression compression() const override { return Compression::Gzip; }

  std::size_t read(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), kMostAtOnce));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (between_members_ && !begin_member()) return 0;
      step();
    }
    return room - stream_.avail_out;
  }

 private:
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

  void step() {
    const auto in = file->peek();
    if (in.empty()) throw DataError("{}: truncated gzip: the file ends at byte {} inside a member", name(), offset());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    file->consume(in.size() - stream_.avail_in);
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status != Z_OK) {
      throw DataError("{}: damaged gzip near byte {}: {}", name(), offset(),
                      stream_.msg != nullptr ? stream_.msg : "not understood by zlib");
    }
  }

  /// True when another member follows; zero bytes at the end are padding.
  bool begin_member() {
    auto next = file->peek(2);
    while (!next.empty() && next[0] == '\0') {
      file->consume(1);
      next = file->peek(2);
    }
    if (next.empty()) return false;
    if (next.size() < 2 || next[0] != '\x1F' || next[1] != '\x8B')
      throw DataError("{}: damaged gzip: bytes that are not gzip follow the data at byte {}", name(), offset());
    if (inflateReset(&stream_) != Z_OK) throw InternalError("{}: zlib cannot start a member", name());
    between_members_ = false;
    return true;
  }

  const std::string& name() const { return file->name(); }
  std::uint64_t offset() const { return file->offset(); }

  z_stream stream_{};
  bool between_members_ = false;
};

}  // namespace

std::unique_ptr<ByteStream::Decoder> make_gzip_decoder(std::unique_ptr<RawFile> file) {
  return std::make_unique<GzipDecoder>(std::move(file));
}

}  // namespace eflops::archive
