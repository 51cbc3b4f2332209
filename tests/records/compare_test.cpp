#include "records/compare.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/records/record_samples.h"

namespace eflops::records {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A record of each launch of one case, whose samples lie around `seconds` with a spread of 1 %.
std::vector<Record> launches(int count, double seconds, const std::string& algorithm = "ring") {
  std::vector<Record> records;
  for (int i = 0; i < count; ++i) {
    Record record = sample_record();
    const double value = seconds * (1 + 0.0025 * (i % 5 - 2));
    record.measurements = {{.name = "iteration_time", .unit = "s", .samples = {value, value, 9 * value}}};
    record.facts = {{"size_bytes", std::int64_t{1024}},
                    {"algorithm", algorithm},
                    {"launch", std::to_string(i)},
                    {"precise", i % 2 == 0}};
    records.push_back(record);
  }
  return records;
}

Change change_of(const std::vector<Record>& before, const std::vector<Record>& after) {
  const ComparisonReport report = compare(before, after, {});
  EXPECT_EQ(report.cases.size(), 1U);
  return report.cases.front().change;
}

TEST(Compare, DecidesByLaunches) {
  EXPECT_EQ(change_of(launches(5, 1), launches(5, 1)), Change::Same);
  EXPECT_EQ(change_of(launches(5, 1), launches(5, 0.9)), Change::Faster);
  EXPECT_EQ(change_of(launches(5, 1), launches(5, 1.1)), Change::Slower);
  // Within the tolerance of 2 % is the same, however sure; across its edge is open.
  EXPECT_EQ(change_of(launches(5, 1), launches(5, 1.005)), Change::Same);
  EXPECT_EQ(change_of(launches(4, 1), launches(9, 2)), Change::Undecided);
  std::vector<Record> spread = launches(5, 1);
  for (int i = 0; i < 5; ++i) spread[static_cast<std::size_t>(i)].measurements[0].samples = {0.6 + 0.2 * i};
  EXPECT_EQ(change_of(launches(5, 1), spread), Change::Undecided);
}

TEST(Compare, RecordsOfOneLaunchAreOneValue) {
  // The same launch a hundred times over is no evidence.
  std::vector<Record> after;
  for (int i = 0; i < 100; ++i) after.push_back(launches(1, 0.5).front());
  const ComparisonReport report = compare(launches(5, 1), after, {});
  EXPECT_EQ(report.cases[0].launches_after, 1);
  EXPECT_EQ(report.cases[0].change, Change::Undecided);
  // Without a name for the launch every record is one.
  for (Record& record : after) std::erase_if(record.facts, [](const Fact& fact) { return fact.first == "launch"; });
  EXPECT_EQ(compare(launches(5, 1), after, {}).cases[0].launches_after, 100);
}

TEST(Compare, NamesCasesAndWhatOneSideAloneHas) {
  std::vector<Record> before = launches(5, 1);
  std::vector<Record> after = launches(5, 2);
  for (Record& record : launches(5, 1, "mpi")) before.push_back(record);
  for (Record& record : launches(5, 1, "direct")) after.push_back(record);
  const ComparisonReport report = compare(before, after, {});
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].name, "size_bytes=1024 algorithm=ring ranks=2");
  EXPECT_NEAR(report.cases[0].ratio, 2, 1e-9);
  EXPECT_THAT(report.only_before, ElementsAre("size_bytes=1024 algorithm=mpi ranks=2"));
  EXPECT_THAT(report.only_after, ElementsAre("size_bytes=1024 algorithm=direct ranks=2"));
}

TEST(Compare, FactsThatAreIgnoredMayDiffer) {
  const ComparisonReport report =
      compare(launches(5, 1), launches(5, 2, "mpi"), {.unchecked = false, .ignore = {"algorithm"}});
  EXPECT_EQ(report.cases[0].name, "size_bytes=1024 ranks=2");
  EXPECT_EQ(report.cases[0].change, Change::Slower);
}

TEST(Compare, WrongAndUnfinishedResultsAreNoNumbers) {
  std::vector<Record> after = launches(6, 0.1);
  after[0].status = Status::Failed;
  after[1].status = Status::Unverified;
  const ComparisonReport report = compare(launches(5, 1), after, {});
  EXPECT_EQ(report.left_out, 2);
  EXPECT_EQ(report.cases[0].launches_after, 4);
  // Numbers that nobody checked count where that is asked for; wrong ones never do.
  EXPECT_EQ(compare(launches(5, 1), after, {.unchecked = true, .ignore = {}}).cases[0].launches_after, 5);
}

TEST(Compare, SidesWithoutACaseInCommonAreAnError) {
  try {
    compare(launches(5, 1), launches(5, 1, "mpi"), {});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no case is on both sides: 1 of iteration_time alone before, 1 after"));
  }
  std::vector<Record> other = launches(5, 1);
  for (Record& record : other) record.measurements[0].unit = "us";
  EXPECT_THROW(compare(launches(5, 1), other, {}), DataError);
}

}  // namespace
}  // namespace eflops::records
