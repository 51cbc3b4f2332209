#include "checkpoint/untrusted_text.h"

#include <gtest/gtest.h>

#include <string>

namespace eflops::checkpoint {
namespace {

// The limits of table 3-7 of the Unicode standard: each pair is the last bad and the first good form.
TEST(Utf8, FindsWhatIsNotWellFormed) {
  for (const char* good : {"", "abc", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(find_invalid_utf8(good), std::string_view::npos) << good;
  for (const char* bad : {"\x80", "\xC1\xBF", "\xC2", "\xC2 ", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE1\x80",
                          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF1\x80\x80"})
    EXPECT_EQ(find_invalid_utf8("ok" + std::string(bad)), 2U) << bad;
}

TEST(RelativePath, MustStayInside) {
  for (const char* good : {"a", "a/b.c", "trainer/x y", "..a"}) EXPECT_TRUE(is_safe_relative_path(good)) << good;
  for (const char* bad : {"", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "a\nb"})
    EXPECT_FALSE(is_safe_relative_path(bad)) << bad;
}

}  // namespace
}  // namespace eflops::checkpoint
