#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/stats.h"
#include "bench/bandwidth.h"
#include "bench/line.h"
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
  std::optional<std::int64_t> port_bytes;  ///< through the busiest server's port in one direction; between servers
  std::string note;  ///< "skipped: needs 12.9 GB, 7.4 GB are free"; a row without times must have one
};

/// What all rows share.
struct TableHead {
  coll::Collective collective = coll::Collective::Allreduce;
  int ranks = 1;
  std::string element;    ///< "f32"
  std::string reduction;  ///< "sum"
  int root = -1;
  Line line;
};

/// What a row's times amount to; only of rows that ran.
struct Figures {
  double fastest = 0;  ///< seconds, as the next four
  double median = 0;
  double p99 = 0;
  double slowest = 0;
  stats::Interval interval;       ///< 95 % of the median
  Bandwidth bandwidth;            ///< of the median
  std::optional<double> port;     ///< GB/s through the busiest port
  std::optional<double> of_line;  ///< share of the line's rate
  std::string note;               ///< the row's, or what its times need to have said
};
Figures figures_of(const TableHead& head, const TableRow& row);

/// Bus bandwidths (algorithm bandwidths for one rank) of the rows that ran, in GB/s.
std::vector<double> rates_of(const TableHead& head, const std::vector<TableRow>& rows);
/// Wrong elements in all rows.
std::int64_t wrong_in(const std::vector<TableRow>& rows);

// The layout of reference/bench_conventions.md 2: what is not data begins with '#', times are in microseconds,
// bandwidths in GB/s of 10^9 bytes, and every line of data has the same columns.

/// Two lines: the columns and their units.
std::string columns();
std::string line_of(const TableHead& head, const TableRow& row);
/// The last lines: wrong elements, rows that did not run, peak and mean bus bandwidth over the rows that ran.
std::string footer(const TableHead& head, const std::vector<TableRow>& rows);

}  // namespace eflops::bench
