#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace eflops::bench {

/// A figure of another tool, in our units.
struct ForeignValue {
  std::string name;  ///< as our records name it: "iteration_time", "latency", "bandwidth", "algbw"
  std::string unit;  ///< "s", "GB/s", "1/s"
  double value = 0;
};

/// One row of a table that another tool printed; one of each place where it prints both in a line.
struct ForeignRow {
  std::int64_t line = 0;   ///< in the log
  std::string tool;        ///< "nccl-tests", "OSU", "IMB"
  std::string version;     ///< empty where the log does not tell, as the next ones
  std::string benchmark;   ///< "all_reduce_perf", "MPI Allreduce Latency", "Allreduce"
  std::string collective;  ///< our name for it
  std::int64_t ranks = 0;
  std::int64_t bytes = 0;
  std::string place;  ///< "out", "in"
  std::string element;
  std::string reduction;
  std::int64_t repetitions = 0;
  std::vector<ForeignValue> values;
  std::optional<std::int64_t> wrong;  ///< elements; nothing where the tool did not check
  std::string note;                   ///< what contradicts itself in the row
};

struct ForeignLog {
  std::vector<ForeignRow> rows;
  std::vector<std::int64_t> odd_lines;  ///< of a table, that begin with a size and have other columns than its head
};

/// Every row of the tables of nccl-tests (and rccl-tests), OSU micro-benchmarks and Intel MPI Benchmarks in a log, with
/// the launcher's prefixes ("0: ", "[1,0]<stdout>:") or without; other lines may lie between. DataError that begins
/// with `name` if there is no such row.
ForeignLog read_foreign_log(std::istream& log, const std::string& name);
ForeignLog read_foreign_log(const std::filesystem::path& file);

}  // namespace eflops::bench
