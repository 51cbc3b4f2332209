#include "data/sharding_encode.h"

#include <concepts>
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

// The fields of a chunk, for packing and unpacking alike: `Chunk` is const in the one and not in the other.
template <typename Pipe, typename Chunk>
requires std::same_as<std::remove_const_t<Chunk>, TextChunk>
void visit_fields(Pipe& pipe, Chunk& chunk) {
  pipe.value(chunk.format);
  pipe.value(chunk.first_line);
  pipe.value(chunk.continues);
  pipe.sequence(chunk.file);
  pipe.sequence(chunk.text);
}

template <typename Pipe, typename Chunk>
requires std::same_as<std::remove_const_t<Chunk>, EncodedChunk>
void visit_fields(Pipe& pipe, Chunk& chunk) {
  pipe.value(chunk.continues);
  pipe.value(chunk.counts);
  pipe.sequence(chunk.documents);
  pipe.sequence(chunk.sentence_lengths);
  pipe.sequence(chunk.ids);
}

template <typename Chunk>
std::string packed(const Chunk& chunk) {
  Packer packer;
  visit_fields(packer, chunk);
  return packer.finish();
}

template <typename Chunk>
Chunk unpacked(std::string_view bytes) {
  Chunk chunk;
  Unpacker unpacker(bytes);
  visit_fields(unpacker, chunk);
  return chunk;
}

}  // namespace

EncodedChunk encode_chunk(const TextChunk& chunk, const TextSourceOptions& options, const text::Tokenizer& tokenizer) {
  EncodedChunk out;
  out.continues = chunk.continues;
  Encoder encoder(tokenizer, out);
  parse_chunk(chunk, options, encoder, out.counts);
  return out;
}

std::string pack(const TextChunk& chunk) { return packed(chunk); }

TextChunk unpack_text(std::string_view bytes) { return unpacked<TextChunk>(bytes); }

std::string pack(const EncodedChunk& chunk) { return packed(chunk); }

EncodedChunk unpack_encoded(std::string_view bytes) { return unpacked<EncodedChunk>(bytes); }

}  // namespace eflops::data
