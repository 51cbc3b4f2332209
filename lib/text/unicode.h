#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace eflops::text {

/// One step of reading UTF-8: a code point and its bytes, or `valid == false` and one byte to drop.
struct Utf8Step {
  char32_t code_point = 0;
  std::uint32_t bytes = 1;
  bool valid = false;
};

/// Reads the code point at `at < text.size()`. Overlong forms, surrogates and values past U+10FFFF are invalid; a byte
/// that does not start a whole valid sequence is dropped alone, so the rest reads as Python's errors="ignore" does.
inline Utf8Step read_utf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  const auto continues = [&](std::size_t i, std::uint8_t low, std::uint8_t high) {
    return at + i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  if (lead >= 0xC2 && lead <= 0xDF && continues(1, 0x80, 0xBF))
    return {static_cast<char32_t>((lead & 0x1F) << 6 | (byte(1) & 0x3F)), 2, true};
  if (lead >= 0xE0 && lead <= 0xEF && continues(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) &&
      continues(2, 0x80, 0xBF))
    return {static_cast<char32_t>((lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F)), 3, true};
  if (lead >= 0xF0 && lead <= 0xF4 && continues(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) &&
      continues(2, 0x80, 0xBF) && continues(3, 0x80, 0xBF))
    return {
        static_cast<char32_t>((lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F)),
        4, true};
  return {};
}

/// Appends the UTF-8 form of a code point, which must not be a surrogate.
void append_utf8(std::string& out, char32_t code_point);

/// Offset of the first byte that is not UTF-8, or npos.
std::size_t first_invalid_utf8(std::string_view text);

/// The text without the bytes that are not UTF-8.
std::string without_invalid_utf8(std::string_view text);

/// Number of code points, bytes that are not UTF-8 not counted.
std::size_t count_code_points(std::string_view text);

bool is_upper_case(char32_t code_point);   ///< Lu or Lt
bool has_lower_case(char32_t code_point);  ///< lower-casing changes it; Lu without a lower case (U+211D) has none
bool is_lower_case(char32_t code_point);   ///< Ll
bool is_letter(char32_t code_point);       ///< L*
bool is_digit(char32_t code_point);        ///< Nd
bool is_space(char32_t code_point);        ///< White_Space

/// Version of the Unicode tables behind all of this, "15.0".
std::string unicode_version();

}  // namespace eflops::text
