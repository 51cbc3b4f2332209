#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace eflops {
namespace {

template <typename Call>
std::string data_error(Call call) {
  try {
    call();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

// C31: NaN and infinities are not JSON; they become null.
TEST(Json, LinesAreAlwaysValidJson) {
  Json value;
  value["z"] = std::numeric_limits<double>::quiet_NaN();
  value["a"] = -std::numeric_limits<double>::infinity();
  value["text"] = "a\"\n\xff";
  EXPECT_EQ(to_json_line(value), "{\"z\":null,\"a\":null,\"text\":\"a\\\"\\n\xef\xbf\xbd\"}");
}

TEST(ParseJson, ParsesADocument) { EXPECT_EQ(parse_json(R"({"a": [1, {"a": 2}]})", "f")["a"][1]["a"], 2); }

TEST(ParseJson, RefusesARepeatedKeyAtAnyDepth) {
  EXPECT_EQ(data_error([] { parse_json(R"({"a": 1, "b": 2, "a": 3})", "f.json"); }),
            R"(f.json: key "a" stands twice in one object)");
  EXPECT_EQ(data_error([] { parse_json(R"([{"x": {"k": 1, "k": 1}}])", "f.json"); }),
            R"(f.json: key "k" stands twice in one object)");
}

TEST(ParseJson, AllowsOneKeyInTwoObjects) { EXPECT_EQ(parse_json(R"([{"k": 1}, {"k": 2}])", "f").size(), 2U); }

// The comma stands at byte 6 and nothing follows: the parser fails at the end, byte 7.
TEST(ParseJson, NamesTheByteOfASyntaxError) {
  EXPECT_EQ(data_error([] { parse_json(R"([1, 2,)", "f.json"); }), "f.json: not valid JSON at byte 7");
}

TEST(ParseJson, RefusesAZeroByteAndWhatHidesBehindIt) {
  EXPECT_EQ(data_error([] { parse_json(std::string_view("{}\0{}", 5), "f.json"); }),
            "f.json: not valid JSON at byte 3");
}

TEST(ParseJson, SurvivesDeepNesting) {
  EXPECT_NE(data_error([] { parse_json(std::string(1'000'000, '['), "deep"); }), "");
}

TEST(Shown, AnyTextFitsOnOneShortLine) {
  EXPECT_EQ(shown("a\nb\"\x01"), R"("a\nb\"\u0001")");
  EXPECT_EQ(shown("\xff"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(shown(std::string(200, 'x')), '"' + std::string(80, 'x') + "...\"");
}

// 79 bytes of quote and text, then a character of two bytes that would be cut in half.
TEST(Shown, AValueFitsOnOneShortLine) {
  EXPECT_EQ(shown_value(Json("a\n")), R"("a\n")");
  EXPECT_EQ(shown_value(Json(5)), "5");
  EXPECT_EQ(shown_value(Json(std::string(78, 'x') + "\xC3\xA9y")), '"' + std::string(78, 'x') + "...");
}

}  // namespace
}  // namespace eflops
