#include "experiment/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "config/yaml_file.h"
#include "machine/machine.h"

namespace eflops::experiment {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.yaml";
constexpr const char* kLock = ".lock";

bool is_run_folder(const fs::path& folder) { return fs::is_regular_file(folder / kConfig); }

// The lock file of a run that died before it wrote anything does not make a folder a used one.
bool is_unused(const fs::path& folder) {
  if (!fs::exists(folder)) return true;
  if (!fs::is_directory(folder)) throw ConfigError("{} is not a folder", folder.string());
  return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return entry.path().filename() == kLock; });
}

void create_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw DataError("{}: cannot create the run folder: {}", folder.string(), error.message());
}

// Names end in UTC time, so the last in order is the newest. Empty when there is none.
fs::path newest_run(const fs::path& runs, const std::string& name) {
  fs::path newest;
  if (!fs::is_directory(runs)) return newest;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs)) {
    const std::string found = entry.path().filename().string();
    const std::string prefix = name + "-";
    // "mini-20260131-123456", not "mini-long-2026…": after the name comes a time.
    if (!found.starts_with(prefix) || found.size() < prefix.size() + 15 || !is_run_folder(entry.path())) continue;
    if (found.find_first_not_of("0123456789-", prefix.size()) != std::string::npos) continue;
    if (newest.empty() || newest.filename().string() < found) newest = entry.path();
  }
  return newest;
}

fs::path new_run(const fs::path& runs, const std::string& name) {
  create_folders(runs);
  const std::string stem = name + "-" + utc_compact();
  // Two runs of one name may start in the same second; creating the folder decides who has it.
  for (int attempt = 1; attempt <= 1000; ++attempt) {
    const fs::path folder = runs / (attempt == 1 ? stem : fmt::format("{}-{}", stem, attempt));
    std::error_code error;
    if (fs::create_directory(folder, error)) return folder;
    if (error) throw DataError("{}: cannot create the run folder: {}", folder.string(), error.message());
  }
  throw DataError("{}: 1000 runs named {} in one second", runs.string(), stem);
}

std::string text_of(const Assignment& assignment) {
  const std::string joined = fmt::format("{}", fmt::join(assignment.values, ", "));
  return assignment.is_list ? fmt::format("[{}]", joined) : joined;
}

void check_name(const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos || name[0] == '.')
    throw ConfigError("run.name is '{}': a name without '/' that does not begin with '.' is expected", name);
}

}  // namespace

void RunOptions::visit_fields(OptionVisitor& v) {
  v("name", name, "name of the run; empty: the program's name", {.aliases = {"run_name"}, .changes_result = false});
  v("runs", runs, "folder that new run folders NAME-TIME are made in", {.changes_result = false});
  v("output", output, "folder of this run; empty: RUNS/NAME-TIME",
    {.aliases = {"output_dir"}, .changes_result = false});
  v("resume", resume, "continue a run: 'auto' for the newest of this name (or a new one), or its folder",
    {.aliases = {"resume_from_checkpoint"}, .changes_result = false});
  v("overwrite", overwrite, "remove what `output` holds from an earlier run and begin again",
    {.aliases = {"overwrite_output_dir"}, .changes_result = false});
}

fs::path run_to_resume(const RunOptions& options, const std::string& program) {
  if (options.resume.empty()) return {};
  fs::path found = options.resume;
  if (options.resume == "auto")
    found = options.output.empty() ? newest_run(options.runs, options.name.empty() ? program : options.name)
                                   : fs::path(options.output);
  return !found.empty() && is_run_folder(found) ? found : fs::path();
}

class RunFolder::Lock {
 public:
  explicit Lock(const fs::path& folder) {
    const fs::path file = folder / kLock;
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) throw DataError("{}: cannot lock the run folder: {}", folder.string(), std::strerror(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      ::close(descriptor_);
      if (reason != EWOULDBLOCK) throw DataError("{}: cannot lock: {}", file.string(), std::strerror(reason));
      std::string holder = read_file(file);
      std::ranges::replace(holder, '\n', ' ');
      throw ConfigError("{} is in use by {}; give this run another --output or stop that one", folder.string(),
                        holder.empty() ? "another process" : holder);
    }
    const std::string text = fmt::format("process {} on {}", ::getpid(), machine::host_name());
    if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, text.data(), text.size(), 0) < 0) {
      const int reason = errno;
      ::close(descriptor_);
      throw DataError("{}: cannot write: {}", file.string(), std::strerror(reason));
    }
  }
  // The file stays: removing it would let a third process lock another file of the same name.
  ~Lock() { ::close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_ = -1;
};

RunFolder::RunFolder(const RunOptions& options, const std::string& program) {
  const std::string name = options.name.empty() ? program : options.name;
  check_name(name);
  if (!options.resume.empty() && options.overwrite)
    throw ConfigError("run.resume and run.overwrite contradict each other: choose one");
  if (options.overwrite && options.output.empty())
    throw ConfigError("run.overwrite needs run.output: a new folder RUNS/NAME-TIME overwrites nothing");
  if (options.resume == "auto") {
    path_ = run_to_resume(options, program);
    resumed_ = !path_.empty();
    if (!resumed_) path_ = options.output;
  } else if (!options.resume.empty()) {
    path_ = options.resume;
    if (!options.output.empty() && fs::path(options.output) != path_)
      throw ConfigError("run.resume is {} but run.output is {}: a resumed run stays in its folder", options.resume,
                        options.output);
    if (!is_run_folder(path_)) throw ConfigError("run.resume: {} is not a run folder (no {})", options.resume, kConfig);
    resumed_ = true;
  } else {
    path_ = options.output;
  }
  if (path_.empty()) path_ = new_run(options.runs, name);
  if (!resumed_ && !options.overwrite && !is_unused(path_))
    throw ConfigError("{} is not empty: --resume auto continues the run in it, --overwrite begins again",
                      path_.string());
  if (options.overwrite && !is_unused(path_) && !is_run_folder(path_))
    throw ConfigError("{} holds no run ({} is missing): it is not overwritten", path_.string(), kConfig);
  create_folders(path_);
  lock_ = std::make_unique<Lock>(path_);
  if (!options.overwrite) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_))
    if (entry.path().filename() != kLock) fs::remove_all(entry.path());
}

RunFolder::~RunFolder() = default;
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder& RunFolder::operator=(RunFolder&&) noexcept = default;

void RunFolder::write_config(const std::string& program, const OptionSet& options,
                             const std::function<std::string(const std::string&)>& source_of) const {
  write_file_atomically(path_ / kConfig, "program: " + program + "\n" + dump_yaml(options, source_of));
}

std::vector<std::string> RunFolder::differences(const std::string& program, const OptionSet& options) const {
  const config::YamlFile before = config::read_yaml(path_ / kConfig);
  if (before.program != program)
    throw ConfigError("{}: a run of '{}', not of '{}'", before.program_source, before.program, program);
  // The present options go through the same writer and reader, so that equal values have equal texts.
  const config::YamlFile now = config::parse_yaml(dump_yaml(options, {}), "present options");
  std::map<std::string, std::string> values_now;
  for (const Assignment& assignment : now.assignments) values_now[assignment.path] = text_of(assignment);
  std::map<std::string, std::string> values_before;
  for (const Assignment& assignment : before.assignments) values_before[assignment.path] = text_of(assignment);
  std::vector<std::string> differences;
  for (const FieldDescription& field : describe(options)) {
    const auto was = values_before.find(field.path);
    if (!field.changes_result || was == values_before.end() || was->second == values_now[field.path]) continue;
    differences.push_back(fmt::format("{}: was {}, now {}", field.path, was->second, values_now[field.path]));
  }
  return differences;
}

}  // namespace eflops::experiment
