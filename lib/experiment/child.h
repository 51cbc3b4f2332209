#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eflops::experiment {

/// How a command ended.
struct ChildResult {
  int status = 0;            ///< exit status, or 128 + the signal that ended it
  bool timed_out = false;    ///< it was ended after its time
  bool interrupted = false;  ///< this process was asked to stop (StopSignal), and asked it to
  double seconds = 0;
};

/// Runs a command in a process group of its own, with standard output and error appended to `output` and nothing to
/// read. After `timeout_s`, SIGTERM goes to the group, and SIGKILL 10 s later. When this process is asked to stop the
/// group gets SIGUSR1, on which our programs save their work, and 60 s for it. DataError if it cannot be started.
ChildResult run_child(const std::vector<std::string>& words, const std::filesystem::path& output, double timeout_s);

}  // namespace eflops::experiment
