#include "text/vocabulary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/files.h"
#include "text/unicode.h"

namespace eflops::text {

namespace {

void check_line(std::string_view piece, std::string_view where, std::size_t line) {
  if (piece.empty()) throw DataError("{}:{}: empty line; a vocabulary has one piece on every line", where, line);
  if (piece.back() == '\r') throw DataError("{}:{}: CRLF line end; save the vocabulary with LF line ends", where, line);
  if (const std::size_t at = first_invalid_utf8(piece); at != std::string_view::npos)
    throw DataError("{}:{}: byte 0x{:02X} at column {} is not UTF-8", where, line,
                    static_cast<unsigned char>(piece[at]), at + 1);
  if (piece.find_first_of(" \t") != std::string_view::npos)
    throw DataError("{}:{}: '{}' holds a blank or a tab; a vocabulary has one piece on every line and nothing else",
                    where, line, piece);
}

}  // namespace

std::vector<std::string> parse_vocabulary(std::string_view bytes, std::string_view where) {
  if (bytes.empty()) throw DataError("{}: empty; a vocabulary has one piece on every line", where);
  if (bytes.starts_with("\xEF\xBB\xBF"))
    throw DataError("{}:1: starts with a byte order mark; save the vocabulary as UTF-8 without one", where);
  std::vector<std::string> pieces;
  std::unordered_map<std::string_view, std::size_t> line_of;
  for (std::size_t line = 1; !bytes.empty(); ++line) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view piece = bytes.substr(0, end);
    check_line(piece, where, line);
    const auto [first, is_new] = line_of.emplace(piece, line);
    if (!is_new) throw DataError("{}:{}: piece '{}' stands on line {} already", where, line, piece, first->second);
    pieces.emplace_back(piece);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return pieces;
}

std::vector<std::string> read_vocabulary(const std::filesystem::path& file) {
  return parse_vocabulary(read_file(file), file.string());
}

std::string vocabulary_text(std::span<const std::string> pieces) {
  std::string text;
  for (const std::string& piece : pieces) {
    text += piece;
    text += '\n';
  }
  return text;
}

SpecialIds find_specials(std::span<const std::string> pieces, std::string_view where) {
  std::vector<std::string_view> missing;
  const auto find = [&](std::string_view name) {
    const auto at = std::find(pieces.begin(), pieces.end(), name);
    if (at == pieces.end()) missing.push_back(name);
    return static_cast<std::int32_t>(at - pieces.begin());
  };
  const SpecialIds ids = {find(kPad), find(kUnknown), find(kCls), find(kSep), find(kMask)};
  if (!missing.empty())
    throw DataError("{}: a WordPiece vocabulary needs {}; missing: {}", where, fmt::join(kSpecialPieces, " "),
                    fmt::join(missing, " "));
  return ids;
}

bool is_cased(std::span<const std::string> pieces) {
  for (const std::string& piece : pieces) {
    if (piece.front() == '[' && piece.back() == ']') continue;
    for (std::size_t at = 0; at < piece.size();) {
      const Utf8Step step = read_utf8(piece, at);
      if (has_lower_case(step.code_point)) return true;
      at += step.bytes;
    }
  }
  return false;
}

}  // namespace eflops::text
