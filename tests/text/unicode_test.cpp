#include "text/unicode.h"

#include <gtest/gtest.h>

namespace eflops::text {
namespace {

TEST(Utf8, ReadsTheShortestAndTheLongestOfEachLength) {
  for (const char32_t c :
       std::initializer_list<char32_t>{0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF}) {
    std::string bytes;
    append_utf8(bytes, c);
    const Utf8Step step = read_utf8(bytes, 0);
    EXPECT_TRUE(step.valid);
    EXPECT_EQ(step.code_point, c);
    EXPECT_EQ(step.bytes, bytes.size());
  }
}

TEST(Utf8, DropsOverlongFormsSurrogatesAndValuesTooLarge) {
  // C0 80 and E0 80 80 are long forms of U+0000; ED A0 80 is U+D800; F4 90 80 80 is U+110000; F5 starts nothing.
  for (const char* bad :
       {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5", "\x80"})
    EXPECT_EQ(without_invalid_utf8(std::string("a") + bad + "b"), "ab");
}

TEST(Utf8, DropsACutSequenceButKeepsWhatFollows) {
  EXPECT_EQ(without_invalid_utf8("\xE4\xB8"
                                 "A"),
            "A");
  EXPECT_EQ(without_invalid_utf8("\xE4\xC3\xA9"), "\u00e9");
  EXPECT_EQ(without_invalid_utf8("x\xF0\x9F\x98"), "x");
}

TEST(Utf8, NamesTheFirstInvalidByte) {
  EXPECT_EQ(first_invalid_utf8("ab\u00e9\xFFz"), 4u);  // a, b, two bytes of e acute
  EXPECT_EQ(first_invalid_utf8("ab\u00e9z"), std::string_view::npos);
}

TEST(Utf8, CountsCodePointsNotBytes) { EXPECT_EQ(count_code_points("a\u00e9\u4e2d\U0001f600\xFF"), 4u); }

}  // namespace
}  // namespace eflops::text
