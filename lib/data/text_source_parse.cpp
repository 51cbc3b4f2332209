#include "data/text_source_parse.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "text/sentence_splitter.h"
#include "text/unicode.h"

namespace eflops::data {
namespace {

constexpr std::array<std::string_view, TextCounts::kSize> kCountNames{
    "lines",           "crlf_lines",    "invalid_utf8_lines", "invalid_utf8_bytes",
    "empty_documents", "sentences",     "empty_sentences",    "long_sentences",
    "tokens",          "unknown_tokens"};

/// The value of `name="..."` in a tag, or "".
std::string_view attribute(std::string_view tag, std::string_view name) {
  const std::string opening = std::string(" ") + std::string(name) + "=\"";
  const std::size_t begin = tag.find(opening);
  if (begin == std::string_view::npos) return {};
  tag.remove_prefix(begin + opening.size());
  return tag.substr(0, tag.find('"'));
}

class ChunkParser {
 public:
  ChunkParser(const TextChunk& chunk, const TextSourceOptions& options, SentenceSink& sink, TextCounts& counts)
      : chunk_(chunk), options_(options), sink_(sink), counts_(counts), inside_doc_(chunk.continues) {}

  void run() {
    line_number_ = chunk_.first_line - 1;
    for (std::size_t at = 0; at < chunk_.text.size();) {
      const std::size_t end = chunk_.text.find('\n', at);
      ++line_number_;
      add_line(cleaned(std::string_view(chunk_.text).substr(at, end - at)));
      at = end + 1;
    }
    end_paragraph();
  }

 private:
  std::string_view cleaned(std::string_view line) {
    ++counts_[TextCount::Lines];
    if (line.ends_with('\r')) {
      ++counts_[TextCount::CrlfLines];
      line.remove_suffix(1);
    }
    const std::size_t invalid = text::first_invalid_utf8(line);
    if (invalid != std::string_view::npos) {
      if (options_.invalid_utf8 == InvalidUtf8::Fail)
        throw DataError("{}:{}: not UTF-8 at byte {} of the line; valid: UTF-8, or invalid_utf8=drop", chunk_.file,
                        line_number_, invalid + 1);
      ++counts_[TextCount::InvalidUtf8Lines];
      clean_ = text::without_invalid_utf8(line);
      counts_[TextCount::InvalidUtf8Bytes] += static_cast<std::int64_t>(line.size() - clean_.size());
      line = clean_;
    }
    return trimmed(line);
  }

  void add_line(std::string_view line) {
    switch (chunk_.format) {
      case TextFormat::Sentences:
        if (line.empty()) return blank_line();
        return sink_.sentence(line);
      case TextFormat::Plain:
        if (line.empty()) return blank_line();
        return split(line);
      case TextFormat::Wrapped:
        if (line.empty()) return blank_line();
        if (!paragraph_.empty()) paragraph_ += ' ';
        paragraph_ += line;
        return;
      case TextFormat::JsonLines:
        if (!line.empty()) json_line(line);
        return;
      case TextFormat::WikiExtractor:
        return wiki_line(line);
      case TextFormat::Auto:
        break;
    }
    throw InternalError("{}: a chunk without a format", chunk_.file);
  }

  void blank_line() {
    end_paragraph();
    if (options_.documents == DocumentBorder::BlankLine) sink_.end_document();
  }

  void end_paragraph() {
    if (!paragraph_.empty()) split(paragraph_);
    paragraph_.clear();
  }

  void split(std::string_view paragraph) {
    for (const std::string_view sentence : text::split_sentences(paragraph))
      if (!trimmed(sentence).empty()) {
        sink_.sentence(trimmed(sentence));
        has_text_ = true;
      }
  }

  void json_line(std::string_view line) {
    const std::string where = fmt::format("{}:{}", chunk_.file, line_number_);
    if (line.starts_with('['))
      throw DataError("{}: a JSON array; valid: one object a line (jq -c '.[]' makes that)", where);
    const Json json = parse_json(line, where);
    if (!json.is_object())
      throw DataError("{}: a JSON object was expected, with its text in '{}'", where, options_.text_field);
    const auto field = json.find(options_.text_field);
    if (field == json.end())
      throw DataError("{}: no field '{}'; it has: {}", where, options_.text_field, field_names(json));
    if (!field->is_string())
      throw DataError("{}: field '{}' is {}, not text", where, options_.text_field, field->type_name());
    has_text_ = false;
    const std::string& text = field->get_ref<const std::string&>();
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      split(trimmed(std::string_view(text).substr(at, end - at)));
      at = end + 1;
    }
    end_own_document();
  }

  static std::string field_names(const Json& json) {
    std::string names;
    for (const auto& [name, value] : json.items()) names += (names.empty() ? "" : ", ") + name;
    return names.empty() ? "none" : names;
  }

  void wiki_line(std::string_view line) {
    if (line.starts_with("<doc ")) {
      if (inside_doc_) throw DataError("{}:{}: <doc> inside <doc>", chunk_.file, line_number_);
      inside_doc_ = true;
      has_text_ = false;
      title_ = attribute(line, "title");
    } else if (line == "</doc>") {
      if (!inside_doc_) throw DataError("{}:{}: </doc> without <doc>", chunk_.file, line_number_);
      inside_doc_ = false;
      end_own_document();
    } else if (!line.empty()) {
      if (!inside_doc_)
        throw DataError("{}:{}: text outside <doc>: is this wikiextractor's output?", chunk_.file, line_number_);
      // wikiextractor repeats the title as the first line; it is no sentence.
      if (const bool is_title = line == title_; title_.clear(), !is_title) split(line);
    }
  }

  void end_own_document() {
    if (!has_text_) ++counts_[TextCount::EmptyDocuments];
    sink_.end_document();
  }

  const TextChunk& chunk_;
  const TextSourceOptions& options_;
  SentenceSink& sink_;
  TextCounts& counts_;
  std::int64_t line_number_ = 0;
  std::string clean_;      ///< a line without its invalid bytes
  std::string paragraph_;  ///< wrapped lines joined so far
  std::string title_;
  bool inside_doc_;
  bool has_text_ = true;  ///< the open document had a sentence; true at first because an earlier chunk may have had it
};

}  // namespace

TextCounts& TextCounts::operator+=(const TextCounts& other) {
  for (std::size_t i = 0; i < kSize; ++i) values_[i] += other.values_[i];
  return *this;
}

std::string_view text_count_name(TextCount what) { return kCountNames[static_cast<std::size_t>(what)]; }

void parse_chunk(const TextChunk& chunk, const TextSourceOptions& options, SentenceSink& sink, TextCounts& counts) {
  ChunkParser(chunk, options, sink, counts).run();
}

}  // namespace eflops::data
