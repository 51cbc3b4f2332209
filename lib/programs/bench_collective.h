#pragma once

#include <functional>
#include <vector>

#include "bench/table.h"
#include "coll/schedule.h"
#include "comm/mpi_session.h"
#include "programs/bench_rows.h"
#include "programs/program.h"

namespace eflops::programs {

/// `eflops-bench allreduce` and the other collectives: starts ranks on this host unless a launcher did, measures every
/// size with every algorithm, prints the table from rank 0 and appends a record a row. CheckFailed if a result was
/// wrong.
void run_bench(coll::Collective collective, const BenchOptions& options, const Invocation& call);

/// Starts ranks on this host unless a launcher did, and calls `body` on each; where it throws, the job ends with its
/// exit code and the rank's number.
void run_ranks(const BenchOptions& options, const std::function<void(comm::MpiSession&)>& body);

/// What run_bench does on one rank; the rows are those of rank 0, where a table was printed. `learn` hears how the
/// ranks are joined.
std::vector<bench::TableRow> measure_collective(comm::MpiSession& session, coll::Collective collective,
                                                const BenchOptions& options, const Invocation& call,
                                                const std::function<void(const RankSet&)>& learn = {});

/// For --dry-run: the rows, the memory of the largest and about how long it takes.
void estimate_bench(coll::Collective collective, const BenchOptions& options);

}  // namespace eflops::programs
