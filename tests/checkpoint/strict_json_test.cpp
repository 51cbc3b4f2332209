#include "checkpoint/strict_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "checkpoint_testing.h"

namespace eflops::checkpoint {
namespace {

using testing::data_error;

TEST(StrictJson, ParsesADocument) { EXPECT_EQ(parse_strict_json(R"({"a": [1, {"a": 2}]})", "f")["a"][1]["a"], 2); }

TEST(StrictJson, RefusesARepeatedKeyAtAnyDepth) {
  EXPECT_EQ(data_error([] { parse_strict_json(R"({"a": 1, "b": 2, "a": 3})", "f.json"); }),
            R"(f.json: key "a" stands twice in one object)");
  EXPECT_EQ(data_error([] { parse_strict_json(R"([{"x": {"k": 1, "k": 1}}])", "f.json"); }),
            R"(f.json: key "k" stands twice in one object)");
}

TEST(StrictJson, AllowsOneKeyInTwoObjects) { EXPECT_EQ(parse_strict_json(R"([{"k": 1}, {"k": 2}])", "f").size(), 2U); }

// The comma stands at byte 6 and nothing follows: the parser fails at the end, byte 7.
TEST(StrictJson, NamesTheByteOfASyntaxError) {
  EXPECT_EQ(data_error([] { parse_strict_json(R"([1, 2,)", "f.json"); }), "f.json: not valid JSON at byte 7");
}

TEST(StrictJson, RefusesAZeroByteAndWhatHidesBehindIt) {
  EXPECT_EQ(data_error([] { parse_strict_json(std::string_view("{}\0{}", 5), "f.json"); }),
            "f.json: not valid JSON at byte 3");
}

TEST(StrictJson, SurvivesDeepNesting) {
  EXPECT_NE(data_error([] { parse_strict_json(std::string(1'000'000, '['), "deep"); }), "");
}

TEST(StrictJson, ShowsAnyTextOnOneShortLine) {
  EXPECT_EQ(shown("a\nb\"\x01"), R"("a\nb\"\u0001")");
  EXPECT_EQ(shown("\xff"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(shown(std::string(200, 'x')), '"' + std::string(80, 'x') + "...\"");
}

// 79 bytes of quote and text, then a character of two bytes that would be cut in half.
TEST(StrictJson, ShowsAValueOnOneShortLine) {
  EXPECT_EQ(shown_value(Json("a\n")), R"("a\n")");
  EXPECT_EQ(shown_value(Json(5)), "5");
  EXPECT_EQ(shown_value(Json(std::string(78, 'x') + "\xC3\xA9y")), '"' + std::string(78, 'x') + "...");
}

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
