#include "data/sharding_encode.h"

#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace eflops::data {
namespace {

class Encoder : public SentenceSink {
 public:
  Encoder(const text::Tokenizer& tokenizer, EncodedChunk& out)
      : tokenizer_(tokenizer), unknown_(tokenizer.specials().unknown), out_(out) {
    out_.documents.push_back(0);
  }

  void sentence(std::string_view text) override {
    const std::size_t before = out_.ids.size();
    tokenizer_.encode_ids(text, out_.ids);
    const std::size_t length = out_.ids.size() - before;
    if (length == 0) {
      ++out_.counts[TextCount::EmptySentences];
      return;
    }
    ++out_.documents.back();
    out_.sentence_lengths.push_back(static_cast<std::uint32_t>(length));
    ++out_.counts[TextCount::Sentences];
    out_.counts[TextCount::LongSentences] += static_cast<std::int64_t>(length) > kLongSentence ? 1 : 0;
    out_.counts[TextCount::Tokens] += static_cast<std::int64_t>(length);
    for (std::size_t i = before; i < out_.ids.size(); ++i)
      out_.counts[TextCount::UnknownTokens] += out_.ids[i] == unknown_ ? 1 : 0;
  }

  void end_document() override { out_.documents.push_back(0); }

 private:
  const text::Tokenizer& tokenizer_;
  std::int32_t unknown_;
  EncodedChunk& out_;
};

class Packer {
 public:
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename Sequence>
  void sequence(const Sequence& values) {
    value(std::uint64_t{values.size()});
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  }
  std::string finish() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  template <typename T>
  void value(T& value) {
    take(&value, sizeof value);
  }
  template <typename Sequence>
  void sequence(Sequence& values) {
    std::uint64_t size = 0;
    value(size);
    values.resize(size);
    take(values.data(), size * sizeof(values[0]));
  }

 private:
  void take(void* to, std::size_t size) {
    EFLOPS_CHECK(size <= rest_.size(), "{} of {} bytes left", size, rest_.size());
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  std::string_view rest_;
};

}  // namespace

EncodedChunk encode_chunk(const TextChunk& chunk, const TextSourceOptions& options, const text::Tokenizer& tokenizer) {
  EncodedChunk out;
  out.continues = chunk.continues;
  Encoder encoder(tokenizer, out);
  parse_chunk(chunk, options, encoder, out.counts);
  return out;
}

std::string pack(const TextChunk& chunk) {
  Packer packer;
  packer.value(chunk.format);
  packer.value(chunk.first_line);
  packer.value(chunk.continues);
  packer.sequence(chunk.file);
  packer.sequence(chunk.text);
  return packer.finish();
}

TextChunk unpack_text(std::string_view bytes) {
  TextChunk chunk;
  Unpacker unpacker(bytes);
  unpacker.value(chunk.format);
  unpacker.value(chunk.first_line);
  unpacker.value(chunk.continues);
  unpacker.sequence(chunk.file);
  unpacker.sequence(chunk.text);
  return chunk;
}

std::string pack(const EncodedChunk& chunk) {
  Packer packer;
  packer.value(chunk.continues);
  packer.value(chunk.counts);
  packer.sequence(chunk.documents);
  packer.sequence(chunk.sentence_lengths);
  packer.sequence(chunk.ids);
  return packer.finish();
}

EncodedChunk unpack_encoded(std::string_view bytes) {
  EncodedChunk chunk;
  Unpacker unpacker(bytes);
  unpacker.value(chunk.continues);
  unpacker.value(chunk.counts);
  unpacker.sequence(chunk.documents);
  unpacker.sequence(chunk.sentence_lengths);
  unpacker.sequence(chunk.ids);
  return chunk;
}

}  // namespace eflops::data
