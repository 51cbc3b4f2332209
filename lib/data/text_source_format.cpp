#include "data/text_source_format.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "text/sentence_splitter.h"

namespace eflops::data {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";

bool looks_wrapped(std::span<const std::string> lines) {
  constexpr std::size_t kWidest = 100;
  constexpr std::size_t kFewest = 4;
  std::size_t longest = 0;
  std::vector<std::size_t> followed;  // lengths of lines that another line follows
  std::size_t stops = 0;              // of these, those that end a sentence
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t length = trimmed(lines[i]).size();
    longest = std::max(longest, length);
    if (length == 0 || i + 1 == lines.size() || trimmed(lines[i + 1]).empty()) continue;
    followed.push_back(length);
    stops += ends_with_stop(lines[i]) ? 1 : 0;
  }
  if (longest > kWidest || followed.size() < kFewest || stops * 2 >= followed.size()) return false;
  const auto full = std::ranges::count_if(followed, [&](std::size_t length) { return length * 4 >= longest * 3; });
  return static_cast<std::size_t>(full) * 4 >= followed.size() * 3;
}

bool looks_like_sentences(std::span<const std::string> lines) {
  std::size_t all = 0;
  std::size_t single = 0;
  for (const std::string& line : lines) {
    if (trimmed(line).empty()) continue;
    ++all;
    single += text::split_sentences(trimmed(line)).size() <= 1 ? 1 : 0;
  }
  return single * 10 >= all * 9;
}

}  // namespace

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kWhiteSpace) - first + 1);
}

bool ends_with_stop(std::string_view line) {
  line = trimmed(line);
  while (!line.empty() && (line.back() == '"' || line.back() == '\'' || line.back() == ')')) line.remove_suffix(1);
  return line.ends_with('.') || line.ends_with('!') || line.ends_with('?');
}

TextFormat detect_format(std::span<const std::string> lines) {
  const auto first = std::ranges::find_if(lines, [](const std::string& line) { return !trimmed(line).empty(); });
  if (first == lines.end()) return TextFormat::Sentences;
  if (const auto line = trimmed(*first); line.starts_with('{') || line.starts_with("[{") || line == "[")
    return TextFormat::JsonLines;
  if (trimmed(*first).starts_with("<doc ")) return TextFormat::WikiExtractor;
  if (looks_wrapped(lines)) return TextFormat::Wrapped;
  return looks_like_sentences(lines) ? TextFormat::Sentences : TextFormat::Plain;
}

}  // namespace eflops::data
