#include "bench/foreign_log.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/error.h"
#include "tests/support/data_folder.h"

namespace eflops::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ForeignLog read(const std::string& text) {
  std::istringstream stream(text);
  return read_foreign_log(stream, "some.log");
}

double value(const ForeignRow& row, std::string_view name) {
  for (const ForeignValue& found : row.values) {
    if (found.name == name) return found.value;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

constexpr const char* kNccl =
    "# nccl-tests version 2.17.6\n"
    "$ mpirun all_reduce_perf -b 1M -e 2M -f 2\n"
    "#  Rank  0 Group  0 Pid  1 on a device  0 [0x00] some GPU\n"
    "#  Rank  1 Group  0 Pid  2 on a device  1 [0x01] some GPU\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
    "     1048576        524288      half     sum      -1    100.0   10.49   10.49      0    200.0    5.24    5.24    "
    "N/A\n"
    "some library speaks in between\n"
    "     ...\n"
    "     2097152       1048576      half     sum      -1    100.0   20.97\n"
    "     2097152       1048576      half     sum      -1    100.0   20.97   20.97      3    100.0   33.33   33.33     "
    " 0\n"
    "# Out of bounds values : 3 FAILED\n";

TEST(ForeignLog, OfNcclHasARowForEachPlace) {
  const ForeignLog log = read(kNccl);
  ASSERT_EQ(log.rows.size(), 4U);
  const ForeignRow& out = log.rows[0];
  EXPECT_EQ(out.line, 7);
  EXPECT_EQ(out.tool, "nccl-tests");
  EXPECT_EQ(out.version, "2.17.6");
  EXPECT_EQ(out.collective, "allreduce");
  EXPECT_EQ(out.ranks, 2);
  EXPECT_EQ(out.bytes, 1048576);
  EXPECT_EQ(out.place, "out");
  EXPECT_EQ(out.element, "f16");
  EXPECT_EQ(out.reduction, "sum");
  EXPECT_DOUBLE_EQ(value(out, "iteration_time"), 100e-6);
  EXPECT_EQ(value(out, "busbw"), 10.49);
  EXPECT_EQ(out.wrong, 0);
  EXPECT_EQ(log.rows[1].place, "in");
  EXPECT_DOUBLE_EQ(value(log.rows[1], "iteration_time"), 200e-6);
  EXPECT_EQ(log.rows[1].wrong, std::nullopt);
  EXPECT_EQ(log.rows[2].wrong, 3);
}

TEST(ForeignLog, TellsOfLinesAndFiguresThatDoNotFit) {
  const ForeignLog log = read(kNccl);
  EXPECT_THAT(log.odd_lines, ElementsAre(10));
  EXPECT_EQ(log.rows[2].note, "");
  EXPECT_EQ(log.rows[3].note, "algbw is 33.33, but size over time 20.97 GB/s");
}

TEST(ForeignLog, LaunchersPrefixesAndGroupedDigitsAreNoHindrance) {
  const ForeignLog log = read(
      " [1,0]<stdout>:#  size  time  algbw  busbw\r\n"
      "0:   1_048_576  100.0  10.49  18.35\n");
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0].bytes, 1048576);
  EXPECT_EQ(log.rows[0].place, "");
  EXPECT_EQ(log.rows[0].wrong, std::nullopt);
}

TEST(ForeignLog, OfOsuHasItsColumnsInOurUnits) {
  const ForeignLog log = read(
      "# OSU MPI Allreduce Latency Test v7.4\n"
      "# Datatype: MPI_INT.\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation\n"
      "4                       1.50              1.25              1.75        1000              Pass\n"
      "8                       1.50              1.25              1.75        1000              Fail\n"
      "# OSU MPI Bandwidth Test v5.6.2\n"
      "# Size      Bandwidth (MB/s)\n"
      "1                       5.00\n");
  ASSERT_EQ(log.rows.size(), 3U);
  EXPECT_EQ(log.rows[0].collective, "allreduce");
  EXPECT_EQ(log.rows[0].version, "7.4");
  EXPECT_DOUBLE_EQ(value(log.rows[0], "iteration_time"), 1.5e-6);
  EXPECT_DOUBLE_EQ(value(log.rows[0], "iteration_time_max"), 1.75e-6);
  EXPECT_EQ(log.rows[0].repetitions, 1000);
  EXPECT_EQ(log.rows[0].wrong, 0);
  EXPECT_EQ(log.rows[1].wrong, 1);
  EXPECT_EQ(log.rows[2].benchmark, "MPI Bandwidth");
  EXPECT_EQ(log.rows[2].collective, "");
  EXPECT_DOUBLE_EQ(value(log.rows[2], "bandwidth"), 5e-3);
}

TEST(ForeignLog, OfImbHasABenchmarkAndRanksForEachTable) {
  const ForeignLog log = read(
      "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n"
      "# Benchmarking Allreduce\n"
      "# #processes = 4\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects\n"
      "            0         1000         0.50         1.50         1.00         0.00\n"
      "# Benchmarking PingPong\n"
      "# #processes = 2\n"
      "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "         1000          100         1.00      1000.00\n");
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].collective, "allreduce");
  EXPECT_EQ(log.rows[0].ranks, 4);
  EXPECT_DOUBLE_EQ(value(log.rows[0], "iteration_time"), 1e-6);
  EXPECT_EQ(log.rows[0].wrong, 0);
  EXPECT_EQ(log.rows[1].benchmark, "PingPong");
  EXPECT_EQ(log.rows[1].ranks, 2);
  EXPECT_DOUBLE_EQ(value(log.rows[1], "latency"), 1e-6);
  EXPECT_DOUBLE_EQ(value(log.rows[1], "bandwidth"), 1.0);
}

TEST(ForeignLog, WithoutATableIsAnError) {
  for (const std::string text : {"", "1 2 3\n", "# size time algbw busbw\n1 2\n"}) {
    try {
      read(text);
      ADD_FAILURE() << text;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("some.log: no row of a table of nccl-tests, OSU or IMB in "));
    }
  }
  EXPECT_THROW(read_foreign_log(std::filesystem::path("no such file")), DataError);
  EXPECT_THROW(read_foreign_log(std::filesystem::path(".")), DataError);
}

TEST(ForeignLog, RealLogsOfNcclTestsAreReadInFull) {
  EFLOPS_NEED_DATA(data);
  // Counted by hand: lines of figures, times two where both places stand in a line.
  const std::pair<const char*, std::size_t> logs[] = {
      {"aws_1", 58},       {"aws_2", 64},       {"aws_3", 14},       {"aws_batch_1", 64},      {"aws_topology_1", 6},
      {"coreweave_1", 10}, {"coreweave_2", 10}, {"coreweave_3", 12}, {"h100x16_a3mega_1", 62}, {"stas_network_1", 20}};
  for (const auto& [name, rows] : logs) {
    const ForeignLog log = read_foreign_log(data / "traces/nccl" / (std::string(name) + ".txt"));
    EXPECT_EQ(log.rows.size(), rows) << name;
    EXPECT_THAT(log.odd_lines, ::testing::IsEmpty()) << name;
    for (const ForeignRow& row : log.rows) EXPECT_EQ(row.note, "") << name << ":" << row.line;
  }
}

}  // namespace
}  // namespace eflops::bench
