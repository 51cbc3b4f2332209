#pragma once

#include "coll/schedule.h"
#include "programs/bench_options.h"
#include "programs/program.h"

namespace eflops::programs {

/// `eflops-bench allreduce` and the other collectives: starts ranks on this host unless a launcher did, measures every
/// size with every algorithm, prints the table from rank 0 and appends a record a row. CheckFailed if a result was
/// wrong.
void run_bench(coll::Collective collective, const BenchOptions& options, const Invocation& call);

/// For --dry-run: the rows, the memory of the largest and about how long it takes.
void estimate_bench(coll::Collective collective, const BenchOptions& options);

}  // namespace eflops::programs
