#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiment/sweep.h"

namespace eflops::experiment {

/// One start of one point.
struct Job {
  std::size_t point = 0;  ///< in Experiment::points
  std::int64_t launch = 1;
  std::filesystem::path folder;  ///< RUN/points/NNNNN-launch-K
};

/// How a job ended. Only Complete is not run again.
enum class JobStatus { Complete, Failed, Timeout, Interrupted };
std::string_view job_status_name(JobStatus status);

struct JobResult {
  JobStatus status = JobStatus::Failed;
  int exit_status = 0;
  double seconds = 0;
  std::int64_t attempts = 0;
  std::string why;  ///< one line where it is not complete
};

/// All starts in the order in which they run: every point once, then every point again.
std::vector<Job> jobs_of(const Experiment& experiment, const std::filesystem::path& run);

/// The words that start a job: the launcher's, with {option} replaced by the point's value, then the program from
/// `programs` (where it stands there; else it is looked for in PATH) and `--config FOLDER/config.yaml`. ConfigError for
/// an {option} that the point does not have.
std::vector<std::string> command_of(const Experiment& experiment, const Job& job,
                                    const std::filesystem::path& programs);

/// The configuration of a job: the point's, with where it has to write its records.
std::string job_config(const Experiment& experiment, const Job& job);

/// Runs one job, and again up to `retry` times if it failed. It is complete when it ended with 0 and left a complete
/// record and none that failed: an exit status alone proves nothing (DESIGN D13). Writes FOLDER/config.yaml, output.txt
/// and, at the end, status.json.
JobResult run_job(const Experiment& experiment, const Job& job, const std::filesystem::path& programs);

/// True when the job's folder says that it is complete.
bool is_complete(const Job& job);

/// The records that the job left, line by line as they are; none where it left no file.
std::string records_text(const Experiment& experiment, const Job& job);

}  // namespace eflops::experiment
