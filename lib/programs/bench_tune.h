#pragma once

#include <string>
#include <vector>

#include "programs/bench_options.h"
#include "programs/program.h"

namespace eflops::programs {

/// `eflops-bench tune`: which algorithm is the fastest at each size?
struct TuneOptions : BenchOptions {
  std::vector<std::string> collectives = {"allreduce"};
  double tolerance = 0.05;
  bool verify = false;

  TuneOptions();
  void visit_fields(OptionVisitor& v);
};

/// Measures every algorithm of each collective at every size, in turns, and sets this case (collective, transport,
/// ranks, servers) in the file `table`; other cases in it stay. With `verify` nothing is written: the sweep is measured
/// anew, and CheckFailed says where the table's choice is slower than the fastest by more than the tolerance.
void run_tune(const TuneOptions& options, const Invocation& call);

}  // namespace eflops::programs
