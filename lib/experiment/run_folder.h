#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"

namespace eflops::experiment {

/// Where a run writes. The group `run` of a program's options.
struct RunOptions {
  std::string name = "";  ///< empty: the program's name
  std::string runs = "runs";
  std::string output = "";  ///< empty: RUNS/NAME-TIME
  std::string resume = "";
  bool overwrite = false;

  void visit_fields(OptionVisitor& v);
};

/// The folder of the run that RunFolder would continue with these options; empty when it would begin a new one. Touches
/// nothing.
std::filesystem::path run_to_resume(const RunOptions& options, const std::string& program);

/// The folder of one run, held by this process alone until destruction.
class RunFolder {
 public:
  /// Opens the folder that the options name. `program` ("eflops-pretrain") is the name of an unnamed run.
  ///   default              a new folder RUNS/NAME-TIME, or `output`, which must be absent or empty
  ///   resume = auto        the newest RUNS/NAME-* (or `output`) that holds a configuration; a new folder when there is
  ///   none resume = PATH        that run overwrite            `output` again from the start: what it holds is removed,
  ///   if it is a run folder of ours
  /// ConfigError when a rule forbids it, or when another process holds the folder (named with host and process id).
  RunFolder(const RunOptions& options, const std::string& program);
  ~RunFolder();
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;

  const std::filesystem::path& path() const { return path_; }
  /// True when it holds an earlier part of this run.
  bool resumed() const { return resumed_; }

  /// Writes `config.yaml`: the resolved options under `program:`, which repeats this run. Atomic; replaces an older
  /// one.
  void write_config(const std::string& program, const OptionSet& options,
                    const std::function<std::string(const std::string&)>& source_of) const;

  /// Fields that change a result and differ between the folder's `config.yaml` and `options`, as "path: was A, now B";
  /// empty when the run is continued with what it began with. ConfigError when the file is of another program.
  std::vector<std::string> differences(const std::string& program, const OptionSet& options) const;

 private:
  class Lock;
  std::filesystem::path path_;
  std::unique_ptr<Lock> lock_;
  bool resumed_ = false;
};

}  // namespace eflops::experiment
