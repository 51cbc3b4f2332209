#include "checkpoint/untrusted_text.h"

#include <algorithm>

namespace eflops::checkpoint {
namespace {

bool is_continuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

/// Length of the well-formed sequence at `at`, or 0 (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4 || !is_continuation(text, at + 1)) return 0;
  if (lead < 0xE0) return 2;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  if (!is_continuation(text, at + 2)) return 0;
  if (lead < 0xF0) {
    const bool overlong = lead == 0xE0 && second < 0xA0;
    const bool surrogate = lead == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (!is_continuation(text, at + 3)) return 0;
  const bool overlong = lead == 0xF0 && second < 0x90;
  const bool beyond = lead == 0xF4 && second > 0x8F;
  return overlong || beyond ? 0 : 4;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

bool is_safe_relative_path(std::string_view path) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (path.empty() || std::any_of(path.begin(), path.end(), is_control)) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace eflops::checkpoint
