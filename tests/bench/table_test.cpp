#include "bench/table_formats.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

namespace eflops::bench {
namespace {

using ::testing::HasSubstr;

// Two servers of four ranks with a port of 100 Gb/s each.
const TableHead kHead{
    .ranks = 8,
    .element = "bf16",
    .reduction = "sum",
    .line = {.what = "100 Gb/s", .bytes_per_second = 12.5e9, .server_of_rank = {0, 0, 0, 0, 1, 1, 1, 1}}};

TableRow row(std::vector<double> seconds) {
  return {.bytes = 1048576,
          .count = 524288,
          .place = Place::Out,
          .algorithm = "halving-doubling",
          .result = {.seconds = std::move(seconds), .wrong = 0, .checked = 3, .is_precise = true},
          .is_checked = true,
          .port_bytes = 1048576,
          .note = {}};
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The row of reference/bench_conventions.md 2: 104.0 us are 10.08 GB/s and, on 8 ranks, 17.64.
TEST(Table, ALineHoldsTheFiguresOfTheConventions) {
  EXPECT_THAT(words_of(line_of(kHead, row({105e-6, 101.2e-6, 104e-6}))),
              testing::ElementsAre("1048576", "524288", "out", "halving-doubling", "3", "101.20", "104.00", "104.98",
                                   "105.00", "101.20-105.00", "10.082", "17.644", "10.082", "80.7", "0"));
}

TEST(Table, LongTimesKeepTheirColumns) {
  const std::string short_line = line_of(kHead, row({1e-6}));
  for (const double seconds : {0.05, 0.5, 50.0, 5000.0}) {
    EXPECT_EQ(line_of(kHead, row({seconds})).find(" 0\n"), short_line.find(" 0\n")) << seconds;
  }
}

TEST(Table, CommentLinesHaveTheColumnsOfTheData) {
  const std::string head = columns();
  std::istringstream lines(head);
  std::string names;
  std::getline(lines, names);
  EXPECT_EQ(names[0], '#');
  const std::string data = line_of(kHead, row({104e-6}));
  EXPECT_EQ(names.find("size") + 4, data.find("1048576") + 7);
  EXPECT_EQ(names.find("algorithm"), data.find("halving-doubling"));
  EXPECT_EQ(names.find("wrong") + 5, data.find(" 0\n") + 2);
}

TEST(Table, ARowThatDidNotRunSaysWhyAndHasNoFigures) {
  TableRow skipped = row({});
  skipped.note = "skipped: needs 12.9 GB, 7.4 GB are free";
  const std::string line = line_of(kHead, skipped);
  EXPECT_THAT(line, HasSubstr("skipped: needs 12.9 GB, 7.4 GB are free"));
  EXPECT_EQ(words_of(line)[14], "n/a");
  EXPECT_THAT(footer(kHead, {skipped}), HasSubstr("# rows: 0 ran, 1 did not\n"));
}

TEST(Table, OneRankHasNoBusBandwidthAndUncheckedRowsNoCount) {
  TableRow unchecked = row({104e-6});
  unchecked.is_checked = false;
  const std::vector<std::string> words =
      words_of(line_of({.ranks = 1, .element = "f32", .reduction = "sum", .line = {}}, unchecked));
  EXPECT_EQ(words[11], "n/a");
  EXPECT_EQ(words[14], "n/a");
  EXPECT_THAT(footer(kHead, {unchecked}), HasSubstr("# not checked: 1 of 1 rows\n"));
}

TEST(Table, TheFooterCountsWrongElementsAndNamesPeakAndMean) {
  TableRow wrong = row({208e-6});
  wrong.result.wrong = 3;
  const std::string text = footer(kHead, {row({104e-6}), wrong});
  EXPECT_THAT(text, HasSubstr("# wrong elements: 3   FAILED\n"));
  EXPECT_THAT(text, HasSubstr("# bus bandwidth: peak 17.644 GB/s, mean over rows 13.233 GB/s\n"));
}

TEST(Table, NcclsFooterIsLiteral) {
  EXPECT_EQ(nccl_footer(kHead, {row({104e-6})}),
            "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 17.6443\n#\n");
  TableRow wrong = row({104e-6});
  wrong.result.wrong = 1;
  EXPECT_THAT(nccl_footer(kHead, {wrong}), HasSubstr("# Out of bounds values : 1 FAILED\n"));
}

TEST(Table, NcclsLineHoldsBothPlaces) {
  const TableRow out = row({104e-6});
  EXPECT_THAT(words_of(nccl_line(kHead, &out, nullptr)),
              testing::ElementsAre("1048576", "524288", "bfloat16", "sum", "-1", "104.00", "10.08", "17.64", "0", "N/A",
                                   "N/A", "N/A", "N/A"));
}

TEST(Table, CommaSeparatedLinesHaveAFieldForEachName) {
  const auto fields = [](std::string line) {
    line.pop_back();
    std::vector<std::string> found(1);
    bool is_quoted = false;
    for (const char c : line) {
      if (c == '"') is_quoted = !is_quoted;
      if (c == ',' && !is_quoted) {
        found.emplace_back();
      } else {
        found.back() += c;
      }
    }
    return found;
  };
  const std::vector<std::string> names = fields(csv_columns());
  const std::vector<std::string> values = fields(csv_line(kHead, row({104e-6})));
  ASSERT_EQ(names.size(), values.size());
  const auto value = [&](const std::string& name) {
    return values[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
  };
  EXPECT_EQ(value("p50_us"), "104");
  EXPECT_NEAR(std::stod(value("busbw_GBps")), 17.6443, 1e-4);
  EXPECT_NEAR(std::stod(value("line_share")), 0.80660, 1e-5);
  EXPECT_EQ(value("wrong"), "0");
  TableRow skipped = row({});
  skipped.note = "skipped: a, b and \"c\"";
  const std::string line = csv_line(kHead, skipped);
  EXPECT_EQ(fields(line).size(), names.size());
  EXPECT_THAT(line, HasSubstr("\"skipped: a, b and \"\"c\"\"\"\n"));
}

}  // namespace
}  // namespace eflops::bench
