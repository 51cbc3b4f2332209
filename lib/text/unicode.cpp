#include "text/unicode.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

namespace eflops::text {

void append_utf8(std::string& out, char32_t code_point) {
  const auto push = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0 | code_point >> 6);
    push(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    push(0xE0 | code_point >> 12);
    push(0x80 | (code_point >> 6 & 0x3F));
    push(0x80 | (code_point & 0x3F));
  } else {
    push(0xF0 | code_point >> 18);
    push(0x80 | (code_point >> 12 & 0x3F));
    push(0x80 | (code_point >> 6 & 0x3F));
    push(0x80 | (code_point & 0x3F));
  }
}

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = read_utf8(text, at);
    if (!step.valid) return at;
    at += step.bytes;
  }
  return std::string_view::npos;
}

std::string without_invalid_utf8(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = read_utf8(text, at);
    if (step.valid) kept.append(text, at, step.bytes);
    at += step.bytes;
  }
  return kept;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = read_utf8(text, at);
    count += step.valid ? 1 : 0;
    at += step.bytes;
  }
  return count;
}

namespace {

bool in_categories(char32_t code_point, std::uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(code_point)) & mask) != 0;
}

}  // namespace

bool is_upper_case(char32_t code_point) { return in_categories(code_point, U_GC_LU_MASK | U_GC_LT_MASK); }
bool has_lower_case(char32_t code_point) {
  return u_tolower(static_cast<UChar32>(code_point)) != static_cast<UChar32>(code_point);
}
bool is_letter(char32_t code_point) { return in_categories(code_point, U_GC_L_MASK); }
bool is_lower_case(char32_t code_point) { return in_categories(code_point, U_GC_LL_MASK); }
bool is_digit(char32_t code_point) { return in_categories(code_point, U_GC_ND_MASK); }
bool is_space(char32_t code_point) { return u_isUWhiteSpace(static_cast<UChar32>(code_point)) != 0; }

std::string unicode_version() {
  UVersionInfo version;
  u_getUnicodeVersion(version);
  return fmt::format("{}.{}", version[0], version[1]);
}

}  // namespace eflops::text
