#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "text/tokenizer.h"

namespace eflops::programs {

/// What is written for each line of text; Summary writes one JSON object behind the last line instead.
enum class TokenizeFormat { Pieces, Ids, Json, Summary };

/// `eflops-data tokenize`: how a vocabulary cuts text, line by line.
struct TokenizeOptions {
  std::vector<std::string> input = {};
  std::string text = {};
  text::TokenizerOptions tokenizer = {};
  TokenizeFormat format = TokenizeFormat::Pieces;

  void visit_fields(OptionVisitor& v);
};

/// Writes the pieces of every line that is not empty to stdout; no [CLS] or [SEP] is added. ConfigError when neither
/// or both of `input` and `text` are given; DataError for unreadable text or vocabulary.
void run_tokenize(const TokenizeOptions& options);

/// FNV-1a over 32-bit words, line by line: two tokenizers with equal digests gave equal ids on every line.
class IdDigest {
 public:
  /// Adds the ids of one line and an end mark, 0xffffffff.
  void add_line(std::span<const std::int32_t> ids);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace eflops::programs

template <>
struct eflops::Choices<eflops::programs::TokenizeFormat> {
  using enum programs::TokenizeFormat;
  static constexpr std::pair<programs::TokenizeFormat, std::string_view> kEntries[] = {
      {Pieces, "pieces"}, {Ids, "ids"}, {Json, "json"}, {Summary, "summary"}};
};
