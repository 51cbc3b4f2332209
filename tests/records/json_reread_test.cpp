#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/records/record_samples.h"

// C31: an independent parser reads every line we write.
namespace eflops::records {
namespace {

TEST(JsonReread, SimdjsonReadsARecordWithNotANumberAndBadText) {
  Record record = sample_record();
  record.status = Status::Failed;
  record.verification.outcome = Outcome::Failed;
  record.measurements[0].samples = {std::nan(""), -std::numeric_limits<double>::infinity(), 1e-300, 1e300};
  record.facts.emplace_back("error", std::string("line\nbreak \"quoted\" \x01 bad \xFF byte \\"));
  simdjson::dom::parser parser;
  const simdjson::dom::element read = parser.parse(to_json_line(to_json(record)));
  EXPECT_EQ(std::string_view(read["status"]), "failed");
  EXPECT_EQ(std::int64_t(read["schema"]), 1);
  EXPECT_EQ(std::int64_t(read["facts"]["parameters"]), 9007199254740993);
  EXPECT_TRUE(read["measurements"].at(0)["samples"].at(0).is_null());
  EXPECT_TRUE(read["measurements"].at(0)["samples"].at(1).is_null());
  EXPECT_EQ(double(read["measurements"].at(0)["samples"].at(2)), 1e-300);
  EXPECT_EQ(double(read["measurements"].at(0)["samples"].at(3)), 1e300);
  EXPECT_EQ(std::string_view(read["facts"]["error"]), "line\nbreak \"quoted\" \x01 bad \xEF\xBF\xBD byte \\");
  EXPECT_EQ(std::string_view(read["provenance"]["cpu"]), "A \"fast\" CPU\t\xC3\xA9");
}

TEST(JsonReread, SimdjsonReadsAPeerRecord) {
  simdjson::dom::parser parser;
  const simdjson::dom::element read = parser.parse(to_json_line(to_json(sample_peer_record())));
  EXPECT_EQ(std::string_view(read["case"]), "mini 4x256, 32 x 128");
  EXPECT_EQ(double(read["ratio"]), 1.6);
  EXPECT_EQ(std::int64_t(read["launches"]), 5);
}

TEST(JsonReread, ARecordIsOneLine) {
  Record record = sample_record();
  record.command = "two\nlines\r";
  EXPECT_EQ(to_json_line(to_json(record)).find_first_of("\n\r"), std::string::npos);
}

}  // namespace
}  // namespace eflops::records
