#pragma once

#include <string>

#include "base/options.h"
#include "programs/program.h"

namespace eflops::programs {

/// `eflops-run VERB FILE`: an experiment with many points.
struct RunExperimentOptions {
  std::string experiment = "";
  std::string runs = "runs";
  bool overwrite = false;

  void visit_fields(OptionVisitor& v);
};

/// Prints the experiments in the folder `runs` and how far they are, or how to begin one.
void experiments_here();

/// Prints each start of each point, and whether it is complete already.
void list_experiment(const RunExperimentOptions& options);

/// Asks the program about each point (`--dry-run`), and prints what it says.
void estimate_experiment(const RunExperimentOptions& options);

/// Asks too, and prints only that all is well. ConfigError with the point and the program's own words if it is not.
void check_experiment(const RunExperimentOptions& options);

/// Checks, then runs every start that is not complete, one after the other, in the folder RUNS/NAME; at the end its
/// records.jsonl holds the records of all, with one of ours for each start that is not complete. CheckFailed if there
/// is such a start, InterruptedError when it was asked to stop; the next call goes on. ConfigError if the folder holds
/// another version of the experiment.
void run_experiment(const RunExperimentOptions& options, const Invocation& call);

}  // namespace eflops::programs
