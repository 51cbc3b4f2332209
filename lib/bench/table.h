#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure.h"

namespace eflops::bench {

/// One finished row, or one that could not run and says why.
struct TableRow {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  Place place = Place::Out;
  std::string algorithm;  ///< that ran
  RowResult result;
  bool is_checked = true;
  std::string note;  ///< "skipped: needs 12.9 GB, 7.4 GB are free"; a row without times must have one
};

/// What all rows share.
struct TableHead {
  coll::Collective collective = coll::Collective::Allreduce;
  int ranks = 1;
  std::string element;    ///< "f32"
  std::string reduction;  ///< "sum"
  int root = -1;
};

// The layout of reference/bench_conventions.md 2: what is not data begins with '#', times are in microseconds,
// bandwidths in GB/s of 10^9 bytes, and every line of data has the same columns.

/// Two lines: the columns and their units.
std::string columns();
std::string line_of(const TableHead& head, const TableRow& row);
/// The last lines: wrong elements, rows that did not run, peak and mean bus bandwidth over the rows that ran.
std::string footer(const TableHead& head, const std::vector<TableRow>& rows);

// The columns and closing lines of nccl-tests, for scripts that read those.

std::string nccl_columns();
/// One line for one size; either place may be missing and then shows N/A.
std::string nccl_line(const TableHead& head, const TableRow* out, const TableRow* in);
std::string nccl_footer(const TableHead& head, const std::vector<TableRow>& rows);

}  // namespace eflops::bench
