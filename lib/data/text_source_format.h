#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/options.h"

namespace eflops::data {

/// How text lies in a file.
enum class TextFormat {
  Auto,           ///< told from the beginning of each file, see detect_format
  Sentences,      ///< one sentence a line
  Plain,          ///< one paragraph a line, to be split into sentences
  Wrapped,        ///< paragraphs broken over lines of a fixed width, to be joined and split
  JsonLines,      ///< one JSON object a line, each a document, text in one field
  WikiExtractor,  ///< <doc ... title="..."> paragraphs </doc>
};

/// Where a document ends in the formats that do not say so themselves (sentences, plain, wrapped).
enum class DocumentBorder { BlankLine, File };

/// The format of a file from its first lines:
/// - the first line that is not blank begins with '{': jsonl (a JSON array too, which is then refused); with "<doc ":
///   wikiextractor;
/// - no line is longer than 100 bytes, and of the lines that another one follows (at least four) three quarters have at
///   least three quarters of the longest one's length and fewer than half end a sentence: wrapped;
/// - at least nine in ten lines are one sentence by themselves: sentences;
/// - else plain.
TextFormat detect_format(std::span<const std::string> lines);

/// True when a line ends in a full stop, an exclamation or a question mark, also before closing quotes or a bracket.
bool ends_with_stop(std::string_view line);

/// Without ASCII white space at both ends.
std::string_view trimmed(std::string_view line);

}  // namespace eflops::data

template <>
struct eflops::Choices<eflops::data::TextFormat> {
  static constexpr std::pair<eflops::data::TextFormat, std::string_view> kEntries[] = {
      {eflops::data::TextFormat::Auto, "auto"},       {eflops::data::TextFormat::Sentences, "sentences"},
      {eflops::data::TextFormat::Plain, "plain"},     {eflops::data::TextFormat::Wrapped, "wrapped"},
      {eflops::data::TextFormat::JsonLines, "jsonl"}, {eflops::data::TextFormat::WikiExtractor, "wikiextractor"}};
};

template <>
struct eflops::Choices<eflops::data::DocumentBorder> {
  static constexpr std::pair<eflops::data::DocumentBorder, std::string_view> kEntries[] = {
      {eflops::data::DocumentBorder::BlankLine, "blank_line"}, {eflops::data::DocumentBorder::File, "file"}};
};
