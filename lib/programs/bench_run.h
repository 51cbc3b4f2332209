#pragma once

#include <vector>

#include "bench/table_formats.h"
#include "coll/rank_map.h"
#include "machine/machine.h"
#include "programs/bench_rows.h"
#include "programs/program.h"

namespace eflops::programs {

/// All that one run of `eflops-bench allreduce` or another collective shares on a rank.
struct BenchRun {
  const BenchOptions& options;
  const Invocation& call;
  comm::Transport& transport;
  machine::Machine machine;
  bench::TableHead head;
  coll::RankMap map;
  std::string table_hash;             ///< of the tuning table
  std::string automatic;              ///< what `auto` follows
  std::string launch;                 ///< names this start of the program in its records
  std::vector<bench::TableRow> rows;  ///< on rank 0

  bool speaks() const { return transport.rank() == 0; }
};

/// The lines before the first row, in the format of the options, on standard output.
void print_head(const BenchRun& run);
/// The last of `run.rows`.
void print_row(const BenchRun& run);
/// The lines after the last row.
void print_footer(const BenchRun& run);

/// Appends what was asked for, what ran, every sample and where it was measured.
void write_record(const BenchRun& run, const PlannedRow& planned, const bench::TableRow& row);

/// Measures rows of one size in turns, all ranks together; those that cannot run here say why. On rank 0 the rows have
/// their times.
std::vector<bench::TableRow> measure_rows(BenchRun& run, std::span<const PlannedRow> planned);

}  // namespace eflops::programs
