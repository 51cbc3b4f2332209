#include "records/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "tests/records/record_samples.h"

namespace eflops::records {
namespace {

using ::testing::HasSubstr;

std::string read_error(const std::filesystem::path& file) {
  try {
    read_records(file);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

class RecordFile : public ::testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(file_) << text; }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "r.jsonl";
};

TEST_F(RecordFile, ARecordIsReadBackAsItWasWritten) {
  append(file_, sample_record());
  append(file_, sample_record());
  const std::vector<Record> read = read_records(file_);
  ASSERT_EQ(read.size(), 2U);
  const Record expected = sample_record();
  EXPECT_EQ(to_json_line(to_json(read[1])), to_json_line(to_json(expected)));
  EXPECT_EQ(read[0].status, Status::Complete);
  EXPECT_EQ(read[0].seed, -7);
  EXPECT_EQ(std::get<std::int64_t>(read[0].facts[1].second), 9007199254740993);  // 2^53 + 1: not through a double
  EXPECT_EQ(read[0].measurements[0].samples, (std::vector<double>{0.1, 0.125}));
  EXPECT_EQ(read[0].provenance.libraries, expected.provenance.libraries);
}

TEST_F(RecordFile, NotANumberBecomesNullAndIsReadAsNotANumber) {
  Record record = sample_record();
  record.status = Status::Failed;
  record.verification.outcome = Outcome::Failed;
  record.measurements[0].samples = {1.0, std::nan(""), std::numeric_limits<double>::infinity()};
  append(file_, record);
  EXPECT_THAT(read_file(file_), HasSubstr("\"samples\":[1.0,null,null]"));
  const std::vector<double> samples = read_records(file_)[0].measurements[0].samples;
  EXPECT_EQ(samples[0], 1.0);
  EXPECT_TRUE(std::isnan(samples[1]));
  EXPECT_TRUE(std::isnan(samples[2]));
}

TEST_F(RecordFile, OnlyAPassedVerificationMayBeComplete) {
  Record record = sample_record();
  record.verification.outcome = Outcome::None;
  EXPECT_THROW(append(file_, record), InternalError);
  record.verification.outcome = Outcome::Failed;
  EXPECT_THROW(append(file_, record), InternalError);
  record.status = Status::Timeout;
  EXPECT_THROW(append(file_, record), InternalError);
  record.status = Status::Unverified;
  EXPECT_THROW(append(file_, record), InternalError);
  EXPECT_FALSE(std::filesystem::exists(file_));
  for (const Status status : {Status::Failed, Status::Timeout, Status::Interrupted, Status::Unverified}) {
    record.status = status;
    record.verification.outcome = Outcome::None;
    EXPECT_NO_THROW(append(file_, record)) << choice_name(status);
  }
}

TEST_F(RecordFile, AMeasurementHasNameAndSamples) {
  Record record = sample_record();
  record.measurements[0].samples.clear();
  EXPECT_THROW(check(record), InternalError);
  record = sample_record();
  record.measurements[0].name.clear();
  EXPECT_THROW(check(record), InternalError);
}

TEST_F(RecordFile, EveryErrorNamesFileAndLine) {
  const std::string good = to_json_line(to_json(sample_record())) + "\n";
  const std::string where = file_.string() + ":2: ";
  write(good + "{\"schema\":1\n");
  EXPECT_THAT(read_error(file_), HasSubstr(where + "not valid JSON at byte "));
  write(good + "[1]\n");
  EXPECT_EQ(read_error(file_), where + "not a JSON object");
  write(good + good.substr(0, good.size() - 1));
  EXPECT_EQ(read_error(file_), where + "the last line is cut off");
  Json object = to_json(sample_record());
  object["schema"] = 2;
  write(good + to_json_line(object) + "\n");
  EXPECT_EQ(read_error(file_), where + "schema: 2 is not readable here; this build knows 1");
  object = to_json(sample_record());
  object["status"] = "done";
  write(good + to_json_line(object) + "\n");
  EXPECT_EQ(read_error(file_), where + "status: 'done' is unknown");
  object = to_json(sample_record());
  object["verification"]["outcome"] = "none";
  write(good + to_json_line(object) + "\n");
  EXPECT_EQ(read_error(file_), where + "status 'complete' needs a verification that passed");
  object = to_json(sample_record());
  object["provenance"].erase("git_commit");
  write(good + to_json_line(object) + "\n");
  EXPECT_EQ(read_error(file_), where + "provenance: git_commit: missing");
  object = to_json(sample_record());
  object["measurements"][0]["samples"][1] = "fast";
  write(good + to_json_line(object) + "\n");
  EXPECT_EQ(read_error(file_), where + "measurements: samples: numbers are expected");
  object = to_json(sample_record());
  object["seed"] = 1.5;
  write(good + to_json_line(object) + "\n");
  EXPECT_EQ(read_error(file_), where + "seed: an integer is expected");
  object = to_json(sample_record());
  object["facts"]["list"] = Json::array();
  write(good + to_json_line(object) + "\n");
  EXPECT_EQ(read_error(file_), where + "facts: list: a plain value is expected");
}

TEST_F(RecordFile, EveryMemberIsRequired) {
  const Json whole = to_json(sample_record());
  for (const auto& [key, value] : whole.items()) {
    Json without = whole;
    without.erase(key);
    EXPECT_THROW(record_from_json(without, "x"), DataError) << key;
  }
  for (const auto& [key, value] : whole["provenance"].items()) {
    Json without = whole;
    without["provenance"].erase(key);
    EXPECT_THROW(record_from_json(without, "x"), DataError) << key;
  }
}

TEST_F(RecordFile, LinesOfSeveralWritersDoNotMix) {
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([this] {
      for (int i = 0; i < 25; ++i) append(file_, sample_record());
    });
  writers.clear();
  EXPECT_EQ(read_records(file_).size(), 100U);
}

TEST_F(RecordFile, AMissingFileIsNamed) { EXPECT_THAT(read_error(file_), HasSubstr(file_.string())); }

}  // namespace
}  // namespace eflops::records
