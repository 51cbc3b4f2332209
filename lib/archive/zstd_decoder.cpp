#include <zstd.h>

#include "archive/decoder.h"
#include "base/error.h"

namespace eflops::archive {
namespace {

/// RFC 8878: frames one after the other; the library checks each one's checksum where it has one.
class ZstdDecoder : public ByteStream::Decoder {
 public:
  explicit ZstdDecoder(std::unique_ptr<RawFile> raw) : Decoder(std::move(raw)), context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw DataError("{}: no memory for zstd", file->name());
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Compression compression() const override { return Compression::Zstd; }

  std::size_t read(std::span<char> out) override {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0) {
      const auto in = file->peek();
      if (in.empty() && frame_finished_) return 0;
      ZSTD_inBuffer from{in.data(), in.size(), 0};
      const std::size_t status = ZSTD_decompressStream(context_, &to, &from);
      file->consume(from.pos);
      if (ZSTD_isError(status) != 0)
        throw DataError("{}: damaged zstd near byte {}: {}", file->name(), file->offset(), ZSTD_getErrorName(status));
      if (in.empty() && to.pos == 0)
        throw DataError("{}: truncated zstd: the file ends at byte {} inside a frame", file->name(), file->offset());
      frame_finished_ = status == 0;
    }
    return to.pos;
  }

 private:
  ZSTD_DCtx* context_;
  bool frame_finished_ = true;
};

}  // namespace

std::unique_ptr<ByteStream::Decoder> make_zstd_decoder(std::unique_ptr<RawFile> file) {
  return std::make_unique<ZstdDecoder>(std::move(file));
}

}  // namespace eflops::archive
