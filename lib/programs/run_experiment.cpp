#include "programs/run_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/stop_signal.h"
#include "config/find_config.h"
#include "experiment/child.h"
#include "experiment/provenance.h"
#include "experiment/run_folder.h"
#include "experiment/runner.h"
#include "programs/command_line_sources.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;
using experiment::Experiment;
using experiment::Job;
using experiment::JobResult;
using experiment::JobStatus;

constexpr double kDryRunSeconds = 120;
constexpr const char* kCopy = "experiment.yaml";  // of the experiment, in its folder

/// Where the programs are that came with this one.
fs::path programs_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

Experiment read_experiment(const RunExperimentOptions& options) {
  if (options.experiment.empty()) throw ConfigError("experiment: a file is expected, as in `eflops-run list FILE`");
  Experiment found = experiment::expand(config::read_yaml(config::find_config(options.experiment)));
  found.program = full_program_name(found.program);
  return found;
}

fs::path run_path(const RunExperimentOptions& options, const Experiment& found) {
  return fs::path(options.runs) / found.options.name;
}

std::string counted(const Experiment& found) {
  return fmt::format("{} point{} x {} launch{}", found.points.size(), found.points.size() == 1 ? "" : "s",
                     found.options.launches, found.options.launches == 1 ? "" : "es");
}

/// What the program says of a point without doing anything.
std::string dry_run(const Experiment& found, std::size_t point) {
  const TemporaryFolder folder;
  const Job job{.point = point, .launch = 1, .folder = folder.path()};
  write_file_atomically(folder.path() / "config.yaml", experiment::job_config(found, job));
  experiment::command_of(found, job, programs_folder());  // the launcher's words are complete
  Experiment alone = found;
  alone.options.launcher.clear();
  std::vector<std::string> words = experiment::command_of(alone, job, programs_folder());
  words.emplace_back("--dry-run");
  const fs::path output = folder.path() / "output.txt";
  const experiment::ChildResult ended = experiment::run_child(words, output, kDryRunSeconds);
  const std::string said = read_file(output);
  if (ended.status != 0) throw ConfigError("point '{}': {}", found.points[point].name, said);
  return said;
}

void check_points(const Experiment& found) {
  for (std::size_t point = 0; point < found.points.size(); ++point) {
    dry_run(found, point);
    if (StopSignal::requested()) throw InterruptedError("interrupted while the points were checked");
  }
}

void print_line(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

/// The folder holds this very experiment, or nothing yet.
void claim(const experiment::RunFolder& folder, const RunExperimentOptions& options) {
  const std::string text = read_file(config::find_config(options.experiment));
  const fs::path copy = folder.path() / kCopy;
  if (fs::exists(copy) && read_file(copy) != text) {
    throw ConfigError("{} is of another version of {}: give it another name, or begin again with --overwrite",
                      folder.path().string(), options.experiment);
  }
  if (!fs::exists(copy)) write_file_atomically(copy, text);
}

/// A start that is not complete, in the records: never a number.
records::Record record_of(const Experiment& found, const Job& job, const JobResult& result, const Invocation& call,
                          const machine::Machine& machine) {
  records::Record record = experiment::start_record(
      {.program = found.program,
       .experiment = fmt::format("{} {} launch {}", found.options.name, found.points[job.point].name, job.launch),
       .config_hash = config_hash(call.options),
       .command = call.command},
      machine);
  record.status = result.status == JobStatus::Timeout       ? records::Status::Timeout
                  : result.status == JobStatus::Interrupted ? records::Status::Interrupted
                                                            : records::Status::Failed;
  record.facts = {
      {"attempts", result.attempts}, {"exit_status", std::int64_t{result.exit_status}}, {"error", result.why}};
  return record;
}

struct Progressed {
  std::size_t complete = 0;
  std::string first_trouble;
  std::string records;  // of all jobs so far
};

void run_jobs(const Experiment& found, const fs::path& folder, const Invocation& call, Progressed& progressed) {
  const machine::Machine machine = machine::inspect();
  const std::vector<Job> jobs = experiment::jobs_of(found, folder);
  for (std::size_t i = 0; i < jobs.size() && !StopSignal::requested(); ++i) {
    const Job& job = jobs[i];
    const std::string name =
        fmt::format("[{}/{}] {}  launch {}", i + 1, jobs.size(), found.points[job.point].name, job.launch);
    JobResult result;
    result.status = JobStatus::Complete;
    if (experiment::is_complete(job)) {
      print_line(name + ": complete already");
    } else {
      result = experiment::run_job(found, job, programs_folder());
      print_line(fmt::format("{}: {} in {:.1f} s{}{}", name, experiment::job_status_name(result.status), result.seconds,
                             result.why.empty() ? "" : ": ", result.why));
    }
    if (result.status == JobStatus::Complete) {
      progressed.records += experiment::records_text(found, job);
      ++progressed.complete;
      continue;
    }
    progressed.records += to_json_line(records::to_json(record_of(found, job, result, call, machine))) + "\n";
    if (progressed.first_trouble.empty()) progressed.first_trouble = fmt::format("{}: {}", name, result.why);
  }
}

}  // namespace

void RunExperimentOptions::visit_fields(OptionVisitor& v) {
  v("experiment", experiment, "file whose first line is `program:`; its group `experiment` says how it is swept");
  v("runs", runs, "folder of the experiment's folder", {.changes_result = false});
  v("overwrite", overwrite, "begin again: what an earlier run left is removed", {.changes_result = false});
}

void experiments_here() {
  const fs::path runs = RunExperimentOptions().runs;
  std::vector<fs::path> files;
  if (fs::is_directory(runs)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(runs)) {
      if (fs::exists(entry.path() / kCopy)) files.push_back(entry.path() / kCopy);
    }
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const Experiment found = experiment::expand(config::read_yaml(file));
    const std::vector<Job> jobs = experiment::jobs_of(found, file.parent_path());
    fmt::print("{}: {} of {} complete  ({} of {})\n", file.parent_path().string(),
               std::ranges::count_if(jobs, experiment::is_complete), jobs.size(), counted(found), found.program);
  }
  if (files.empty()) {
    fmt::print("no experiment in {}/ here; `eflops-run run FILE` begins one, `eflops-run --help` tells more\n",
               runs.string());
  }
}

void list_experiment(const RunExperimentOptions& options) {
  const Experiment found = read_experiment(options);
  std::size_t complete = 0;
  const std::vector<Job> jobs = experiment::jobs_of(found, run_path(options, found));
  for (const Job& job : jobs) {
    const bool done = experiment::is_complete(job);
    complete += done ? 1 : 0;
    fmt::print("{:<9} launch {}  {}\n", done ? "complete" : "to do", job.launch, found.points[job.point].name);
  }
  fmt::print("# {}: {} of {}, {} of {} complete\n", found.options.name, found.program, counted(found), complete,
             jobs.size());
}

void estimate_experiment(const RunExperimentOptions& options) {
  const Experiment found = read_experiment(options);
  const StopSignal stop;
  for (std::size_t point = 0; point < found.points.size(); ++point) {
    fmt::print("{}\n  {}", found.points[point].name, dry_run(found, point));
    if (StopSignal::requested()) throw InterruptedError("interrupted");
  }
  const double longest = found.options.timeout * static_cast<double>(found.points.size()) *
                         static_cast<double>(found.options.launches * (1 + found.options.retry));
  fmt::print("# {}: never longer than {} in all\n", counted(found),
             format_duration(std::chrono::duration<double>(longest)));
}

void check_experiment(const RunExperimentOptions& options) {
  const Experiment found = read_experiment(options);
  const StopSignal stop;
  check_points(found);
  fmt::print("{}: {} of {} are valid\n", found.options.name, counted(found), found.program);
}

void run_experiment(const RunExperimentOptions& options, const Invocation& call) {
  const Experiment found = read_experiment(options);
  const StopSignal stop;
  const experiment::RunFolder folder({.name = "",
                                      .runs = options.runs,
                                      .output = run_path(options, found).string(),
                                      .resume = options.overwrite ? "" : "auto",
                                      .overwrite = options.overwrite},
                                     "eflops-run");
  folder.write_config(call.program, call.options, [&](const std::string& path) { return call.source_of(path); });
  claim(folder, options);
  check_points(found);
  Progressed progressed;
  run_jobs(found, folder.path(), call, progressed);
  write_file_atomically(folder.path() / "records.jsonl", progressed.records);
  const std::size_t all = found.points.size() * static_cast<std::size_t>(found.options.launches);
  print_line(fmt::format("# {} of {} complete; records in {}", progressed.complete, all,
                         (folder.path() / "records.jsonl").string()));
  if (StopSignal::requested()) {
    throw InterruptedError("stopped by {}; the same command goes on", StopSignal::name());
  }
  if (progressed.complete < all) {
    throw CheckFailed("{} of {} are not complete, the first {}", all - progressed.complete, all,
                      progressed.first_trouble);
  }
}

}  // namespace eflops::programs
