#include "experiment/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "experiment/child.h"
#include "records/record.h"

namespace eflops::experiment {
namespace {

namespace fs = std::filesystem;
using records::Record;
using records::Status;

/// Programs that measure append to a file; those that train write a folder, and go on in it.
bool writes_a_folder(const std::string& program) {
  return !program.starts_with("eflops-bench") && !program.starts_with("eflops-info");
}

fs::path records_file(const Experiment& experiment, const Job& job) {
  return writes_a_folder(experiment.program) ? job.folder / "run" / "records.jsonl" : job.folder / "records.jsonl";
}

std::string value_in(const Point& point, const std::string& path) {
  for (const Assignment& one : point.assignments) {
    if (one.path == path && !one.is_list) return one.values[0];
  }
  throw ConfigError("experiment.launcher: {{{}}} stands for no option of point '{}'", path, point.name);
}

/// `word` with each {option} replaced.
std::string filled(const std::string& word, const Point& point) {
  std::string result;
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t open = word.find('{', begin);
    const std::size_t close = open == std::string::npos ? open : word.find('}', open);
    if (close == std::string::npos) return result + word.substr(begin);
    result += word.substr(begin, open - begin) + value_in(point, word.substr(open + 1, close - open - 1));
    begin = close + 1;
  }
  return result;
}

/// What the records say of a job that ended with 0; empty if it is complete.
std::string reason_in(const fs::path& file) {
  if (!fs::exists(file)) return "it left no record";
  bool any = false;
  for (const Record& record : records::read_records(file)) {
    if (record.status == Status::Failed) return "a record says that it failed: " + record.experiment;
    any = any || record.status == Status::Complete;
  }
  return any ? "" : "none of its records is complete";
}

std::string last_line(const fs::path& file) {
  std::istringstream text(fs::exists(file) ? read_file(file) : "");
  std::string last;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

JobResult attempt(const Experiment& experiment, const Job& job, const std::vector<std::string>& words) {
  const fs::path records = records_file(experiment, job);
  if (!writes_a_folder(experiment.program)) fs::remove(records);  // those of an attempt that came to nothing
  const fs::path output = job.folder / "output.txt";
  const ChildResult ended = run_child(words, output, experiment.options.timeout);
  JobResult result{
      .status = JobStatus::Failed, .exit_status = ended.status, .seconds = ended.seconds, .attempts = 0, .why = {}};
  if (ended.interrupted || ended.status == static_cast<int>(ExitCode::Interrupted)) {
    result.status = JobStatus::Interrupted;
    result.why = "interrupted";
  } else if (ended.timed_out || ended.status == static_cast<int>(ExitCode::Timeout)) {
    result.status = JobStatus::Timeout;
    result.why = fmt::format("timed out after {:.1f} s", ended.seconds);
  } else if (ended.status != 0) {
    result.why = fmt::format("exit status {}: {}", ended.status, last_line(output));
  } else {
    result.why = reason_in(records);
    if (result.why.empty()) result.status = JobStatus::Complete;
  }
  return result;
}

}  // namespace

std::string_view job_status_name(JobStatus status) {
  constexpr std::string_view kNames[] = {"complete", "failed", "timeout", "interrupted"};
  return kNames[static_cast<std::size_t>(status)];
}

std::vector<Job> jobs_of(const Experiment& experiment, const fs::path& run) {
  std::vector<Job> jobs;
  std::vector<std::size_t> order(experiment.points.size());
  for (std::int64_t launch = 1; launch <= experiment.options.launches; ++launch) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (experiment.options.shuffle) {
      std::ranges::sort(order, {}, [&](std::size_t point) {
        return hash64(fmt::format("{} {} {}", experiment.options.seed, launch, point));
      });
    }
    for (const std::size_t point : order) {
      jobs.push_back({.point = point,
                      .launch = launch,
                      .folder = run / "points" / fmt::format("{:05}-launch-{}", point + 1, launch)});
    }
  }
  return jobs;
}

std::vector<std::string> command_of(const Experiment& experiment, const Job& job, const fs::path& programs) {
  std::vector<std::string> words;
  for (const std::string& word : experiment.options.launcher) {
    words.push_back(filled(word, experiment.points[job.point]));
  }
  std::istringstream program(experiment.program);
  for (std::string word; program >> word;) {
    const bool is_first = words.size() == experiment.options.launcher.size();
    words.push_back(is_first && fs::exists(programs / word) ? (programs / word).string() : word);
  }
  words.insert(words.end(), {"--config", fs::absolute(job.folder / "config.yaml").string()});
  return words;
}

std::string job_config(const Experiment& experiment, const Job& job) {
  std::vector<Assignment> assignments = experiment.points[job.point].assignments;
  const auto set = [&](const std::string& path, const std::string& value) {
    std::erase_if(assignments, [&](const Assignment& one) { return one.path == path; });
    assignments.push_back({.path = path, .values = {value}, .is_list = false, .source = ""});
  };
  if (writes_a_folder(experiment.program)) {
    set("run.output", (job.folder / "run").string());
    set("run.resume", "auto");
  } else {
    set("record", records_file(experiment, job).string());
  }
  return config_text(experiment.program, assignments);
}

JobResult run_job(const Experiment& experiment, const Job& job, const fs::path& programs) {
  fs::create_directories(job.folder);
  write_file_atomically(job.folder / "config.yaml", job_config(experiment, job));
  const std::vector<std::string> words = command_of(experiment, job, programs);
  JobResult result;
  std::int64_t attempts = 0;
  while (true) {
    result = attempt(experiment, job, words);
    result.attempts = ++attempts;
    const bool wrong_options = result.exit_status == static_cast<int>(ExitCode::Config);
    const bool again = result.status == JobStatus::Failed || result.status == JobStatus::Timeout;
    if (!again || wrong_options || attempts > experiment.options.retry) break;
    log::warning("{}: {}; tried again", experiment.points[job.point].name, result.why);
  }
  const Json status = {{"status", job_status_name(result.status)},
                       {"exit_status", result.exit_status},
                       {"seconds", result.seconds},
                       {"attempts", result.attempts},
                       {"why", result.why}};
  write_file_atomically(job.folder / "status.json", to_json_line(status) + "\n");
  return result;
}

bool is_complete(const Job& job) {
  const fs::path file = job.folder / "status.json";
  if (!fs::exists(file)) return false;
  const Json status = parse_json(read_file(file), file.string());
  return status.is_object() && status.value("status", "") == job_status_name(JobStatus::Complete);
}

std::string records_text(const Experiment& experiment, const Job& job) {
  const fs::path file = records_file(experiment, job);
  return fs::exists(file) ? read_file(file) : "";
}

}  // namespace eflops::experiment
