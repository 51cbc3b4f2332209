#include "records/peer_record.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "tests/records/record_samples.h"

namespace eflops::records {
namespace {

std::string error_of(const Json& object) {
  try {
    peer_record_from_json(object, "p.jsonl:3");
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

Json changed(const char* key, const Json& value) {
  Json object = to_json(sample_peer_record());
  object[key] = value;
  return object;
}

TEST(PeerRecord, HasTheKeysOfTheDesign) {
  const Json object = to_json(sample_peer_record());
  for (const char* key : {"case", "ratio", "ci_low", "ci_high", "goal", "better", "ours", "peer", "unit",
                          "peer_version", "command", "launches", "date", "provenance"})
    EXPECT_TRUE(object.contains(key)) << key;
}

TEST(PeerRecord, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "pretrain.jsonl";
  append(file, sample_peer_record());
  append(file, sample_peer_record());
  const std::vector<PeerRecord> read = read_peer_records(file);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(to_json_line(to_json(read[1])), to_json_line(to_json(sample_peer_record())));
}

TEST(PeerRecord, VerdictComesFromTheWholeInterval) {
  PeerRecord record = sample_peer_record();  // [1.55, 1.7], goal 1.5, higher, 5 launches
  EXPECT_EQ(verdict(record), "met");
  record.ci_low = 1.5;
  EXPECT_EQ(verdict(record), "met");
  record.ci_low = 1.49;
  EXPECT_EQ(verdict(record), "undecided");
  record.goal = 1.8;
  EXPECT_EQ(verdict(record), "missed");
  record.launches = 4;
  EXPECT_EQ(verdict(record), "undecided");
}

TEST(PeerRecord, LowerIsBetterForMemory) {
  PeerRecord record = sample_peer_record();
  record.better = "lower";
  record.ratio = 0.7;
  record.ci_low = 0.65;
  record.ci_high = 0.75;
  record.goal = 0.8;
  EXPECT_EQ(verdict(record), "met");
  record.goal = 0.7;
  EXPECT_EQ(verdict(record), "undecided");
  record.goal = 0.6;
  EXPECT_EQ(verdict(record), "missed");
}

TEST(PeerRecord, RefusesWhatCannotBe) {
  EXPECT_EQ(error_of(changed("ratio", 2.0)), "p.jsonl:3: ratio: 2 is outside its interval [1.55, 1.7]");
  EXPECT_EQ(error_of(changed("ours", -1)), "p.jsonl:3: ours: -1 is not positive");
  EXPECT_EQ(error_of(changed("goal", nullptr)), "p.jsonl:3: goal: a number is expected");
  EXPECT_EQ(error_of(changed("better", "more")), "p.jsonl:3: better: 'more' (valid: higher, lower)");
  EXPECT_EQ(error_of(changed("launches", 0)), "p.jsonl:3: launches: at least 1 is expected");
  EXPECT_EQ(error_of(changed("case", "")), "p.jsonl:3: case: empty");
  Json missing = to_json(sample_peer_record());
  missing.erase("peer_version");
  EXPECT_EQ(error_of(missing), "p.jsonl:3: peer_version: missing");
}

TEST(PeerRecord, ABadOneIsNotWritten) {
  const TemporaryFolder folder;
  PeerRecord record = sample_peer_record();
  record.ci_low = 1.65;
  EXPECT_THROW(append(folder.path() / "x.jsonl", record), InternalError);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.jsonl"));
}

}  // namespace
}  // namespace eflops::records
