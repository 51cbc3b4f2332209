#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace eflops {
namespace {

// C31: NaN and infinities are not JSON; they become null.
TEST(Json, LinesAreAlwaysValidJson) {
  Json value;
  value["z"] = std::numeric_limits<double>::quiet_NaN();
  value["a"] = -std::numeric_limits<double>::infinity();
  value["text"] = "a\"\n\xff";
  EXPECT_EQ(to_json_line(value), "{\"z\":null,\"a\":null,\"text\":\"a\\\"\\n\xef\xbf\xbd\"}");
}

TEST(Json, SyntaxErrorsNameThePlace) {
  try {
    parse_json("{\"a\": 1,}", "file.json:3");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("file.json:3: not valid JSON at byte 9"));
  }
}

}  // namespace
}  // namespace eflops
