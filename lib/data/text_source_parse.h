#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_source.h"

namespace eflops::data {

/// What is counted while text becomes sentences; odd things are counted so that they can be reported.
enum class TextCount {
  Lines,
  CrlfLines,         ///< lines that ended in "\r\n"
  InvalidUtf8Lines,  ///< lines that held bytes which are not UTF-8
  InvalidUtf8Bytes,  ///< such bytes, left out
  EmptyDocuments,    ///< JSON lines and <doc>s without text
  Sentences,         ///< kept
  EmptySentences,    ///< of which the tokenizer left nothing; dropped
  LongSentences,     ///< kept, longer than 512 tokens
  Tokens,
  UnknownTokens,
};

class TextCounts {
 public:
  static constexpr std::size_t kSize = static_cast<std::size_t>(TextCount::UnknownTokens) + 1;

  std::int64_t& operator[](TextCount what) { return values_[static_cast<std::size_t>(what)]; }
  std::int64_t operator[](TextCount what) const { return values_[static_cast<std::size_t>(what)]; }
  TextCounts& operator+=(const TextCounts& other);
  bool operator==(const TextCounts&) const = default;

 private:
  std::array<std::int64_t, kSize> values_{};
};

/// "lines", "crlf_lines", …: the key in manifests.
std::string_view text_count_name(TextCount what);

/// Takes what a chunk holds, in order.
class SentenceSink {
 public:
  virtual ~SentenceSink() = default;
  /// UTF-8, trimmed, not empty; valid during the call.
  virtual void sentence(std::string_view text) = 0;
  virtual void end_document() = 0;
};

/// Splits a chunk into documents and sentences. A document that the chunk ends inside is left open. DataError with file
/// and line for invalid UTF-8 where that is an error, a JSON line that does not parse or has no such text field, and
/// text outside <doc>. Pure: any chunk may be parsed by any process.
void parse_chunk(const TextChunk& chunk, const TextSourceOptions& options, SentenceSink& sink, TextCounts& counts);

}  // namespace eflops::data
