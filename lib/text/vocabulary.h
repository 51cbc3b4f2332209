#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace eflops::text {

inline constexpr std::string_view kPad = "[PAD]";
inline constexpr std::string_view kUnknown = "[UNK]";
inline constexpr std::string_view kCls = "[CLS]";
inline constexpr std::string_view kSep = "[SEP]";
inline constexpr std::string_view kMask = "[MASK]";
/// In the order in which our trainer writes them.
inline constexpr std::string_view kSpecialPieces[] = {kPad, kUnknown, kCls, kSep, kMask};

/// The pieces of a WordPiece vocabulary, one a line; the line number less one is the id. `where` begins the errors.
/// DataError with `where:line` for an empty file, a byte order mark, CRLF line ends, invalid UTF-8, an empty line, a
/// blank or tab inside a piece, or a piece that stands twice (both lines are named).
std::vector<std::string> parse_vocabulary(std::string_view bytes, std::string_view where);

/// Reads a file with parse_vocabulary.
std::vector<std::string> read_vocabulary(const std::filesystem::path& file);

/// One piece a line, as parse_vocabulary and Hugging Face's BertTokenizer read it.
std::string vocabulary_text(std::span<const std::string> pieces);

/// Where the five special pieces stand. DataError that begins with `where` lists those missing.
SpecialIds find_specials(std::span<const std::string> pieces, std::string_view where);

/// True if lower-casing would change any piece but those in square brackets.
bool is_cased(std::span<const std::string> pieces);

}  // namespace eflops::text
