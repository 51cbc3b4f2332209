#include "programs/data_tokenize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "archive/line_reader.h"
#include "base/error.h"
#include "base/hash.h"
#include "data/text_source_inputs.h"

namespace eflops::programs {
namespace {

/// Collects lines and times the tokenizer alone over about a megabyte at once, so that the clock costs nothing.
class Summary {
 public:
  explicit Summary(const text::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void add(std::string_view line) {
    ends_.push_back((text_ += line).size());
    if (text_.size() >= kBlockBytes) encode();
  }

  std::string json() {
    encode();
    const double seconds = std::max(seconds_, 1e-9);
    return nlohmann::ordered_json{{"tokenizer", tokenizer_.description()},
                                  {"lines", lines_},
                                  {"bytes", bytes_},
                                  {"tokens", tokens_},
                                  {"digest", hex64(digest_.value())},
                                  {"seconds", seconds_},
                                  {"tokens_per_second", static_cast<double>(tokens_) / seconds},
                                  {"megabytes_per_second", static_cast<double>(bytes_) / seconds / 1e6}}
        .dump();
  }

 private:
  void encode() {
    ids_.clear();
    std::vector<std::size_t> id_ends;
    id_ends.reserve(ends_.size());
    const auto begin = std::chrono::steady_clock::now();
    std::size_t from = 0;
    for (const std::size_t end : ends_) {
      tokenizer_.encode_ids(std::string_view(text_).substr(from, end - from), ids_);
      id_ends.push_back(ids_.size());
      from = end;
    }
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::size_t id_from = 0;
    for (const std::size_t end : id_ends) {
      digest_.add_line(std::span(ids_).subspan(id_from, end - id_from));
      id_from = end;
    }
    lines_ += static_cast<std::int64_t>(ends_.size());
    bytes_ += static_cast<std::int64_t>(text_.size() + ends_.size());
    tokens_ += static_cast<std::int64_t>(ids_.size());
    text_.clear();
    ends_.clear();
  }

  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  const text::Tokenizer& tokenizer_;
  std::string text_;
  std::vector<std::size_t> ends_;  ///< of each line in text_
  std::vector<std::int32_t> ids_;
  IdDigest digest_;
  std::int64_t lines_ = 0, bytes_ = 0, tokens_ = 0;
  double seconds_ = 0;
};

std::string line_json(std::string_view line, const text::Tokenizer& tokenizer) {
  std::vector<text::Token> tokens;
  tokenizer.encode(line, tokens);
  auto list = nlohmann::ordered_json::array();
  for (const text::Token& token : tokens)
    list.push_back(
        {{"piece", tokenizer.piece(token.id)}, {"id", token.id}, {"begin", token.begin}, {"end", token.end}});
  return nlohmann::ordered_json{{"text", line}, {"tokens", list}}.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void print_line(std::string_view line, const text::Tokenizer& tokenizer, TokenizeFormat format) {
  if (format == TokenizeFormat::Json) {
    fmt::print("{}\n", line_json(line, tokenizer));
    return;
  }
  std::vector<std::int32_t> ids;
  tokenizer.encode_ids(line, ids);
  if (format == TokenizeFormat::Ids) {
    fmt::print("{}\n", fmt::join(ids, " "));
    return;
  }
  std::vector<std::string_view> pieces;
  for (const std::int32_t id : ids) pieces.push_back(tokenizer.piece(id));
  fmt::print("{}\n", fmt::join(pieces, " "));
}

}  // namespace

void IdDigest::add_line(std::span<const std::int32_t> ids) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const std::int32_t id : ids) value_ = (value_ ^ static_cast<std::uint32_t>(id)) * kPrime;
  value_ = (value_ ^ 0xffffffffU) * kPrime;
}

void TokenizeOptions::visit_fields(OptionVisitor& v) {
  v("input", input, "text files, folders, patterns, or - for standard input; gzip and zstd are seen by themselves");
  v("text", text, "a text given here instead of input");
  tokenizer.visit_fields(v);
  v("format", format,
    "pieces or ids of each line; json: with offsets in code points; summary: counts, speed of one thread and a digest "
    "of all ids, as one JSON object");
}

void run_tokenize(const TokenizeOptions& options) {
  if (options.input.empty() && options.text.empty())
    throw ConfigError("input is empty: name text files, - for standard input, or give --text");
  if (!options.input.empty() && !options.text.empty())
    throw ConfigError("input and text are both given: which one is to be tokenised?");
  const auto tokenizer = text::load_tokenizer(options.tokenizer);
  Summary summary(*tokenizer);
  const auto take = [&](std::string_view line) {
    if (line.empty()) return;
    if (options.format == TokenizeFormat::Summary)
      summary.add(line);
    else
      print_line(line, *tokenizer, options.format);
  };
  if (!options.text.empty()) {
    take(options.text);
  } else {
    for (const std::string& file : data::expand_inputs(options.input).files) {
      archive::LineReader reader(file);
      for (std::string_view line; reader.next(line);) take(line);
    }
  }
  if (options.format == TokenizeFormat::Summary) fmt::print("{}\n", summary.json());
}

}  // namespace eflops::programs
