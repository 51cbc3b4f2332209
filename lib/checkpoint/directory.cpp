#include "checkpoint/directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"

namespace eflops::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kWriting = ".writing";
constexpr std::string_view kReplaced = ".replaced";
constexpr std::string_view kDeleting = ".deleting";
constexpr int kLockAttempts = 100;

fs::path hidden(const fs::path& parent, std::int64_t step, std::string_view suffix) {
  return parent / fmt::format(".{}{}", checkpoint_name(step), suffix);
}

/// The step of ".checkpoint-STEP<suffix>".
std::optional<std::int64_t> hidden_step(const std::string& name, std::string_view suffix) {
  if (!name.starts_with('.') || !name.ends_with(suffix)) return std::nullopt;
  return checkpoint_step(name.substr(1, name.size() - 1 - suffix.size()));
}

/// Runs `work`; errors of std::filesystem leave as DataError.
template <typename Work>
auto with_data_errors(const Work& work) {
  try {
    return work();
  } catch (const fs::filesystem_error& error) {
    throw DataError("{}: {}", error.path1().string(), error.code().message());
  }
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void sync_file(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throw DataError("{}: cannot sync: {}", file.string(), std::strerror(reason));
}

/// Makes the contents durable, then adds the manifest as the last file.
void seal(const fs::path& folder, const SaveRequest& request) {
  std::vector<fs::path> folders = {folder};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) folders.push_back(entry.path());
    if (entry.is_regular_file()) sync_file(entry.path());
  }
  const Manifest manifest{
      .step = request.step, .metric = request.metric, .created = utc_timestamp(), .files = record_files(folder)};
  write_file_atomically(folder / kManifestName, manifest_text(manifest));
  for (const fs::path& each : folders) sync_folder(each);
}

/// Under another name first, so that a kill half-way leaves nothing that looks like a checkpoint.
void remove_checkpoint(const fs::path& parent, std::int64_t step) {
  const fs::path doomed = hidden(parent, step, kDeleting);
  fs::remove_all(doomed);
  fs::rename(parent / checkpoint_name(step), doomed);
  sync_folder(parent);
  fs::remove_all(doomed);
}

bool is_same_file(int descriptor, const fs::path& file) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

CheckpointStore::CheckpointStore(const fs::path& parent) : parent_(parent), lock_file_(parent / ".checkpoint.lock") {
  with_data_errors([&] { fs::create_directories(parent_); });
  lock();
  try {
    with_data_errors([&] { clear_strays(); });
  } catch (...) {
    ::unlink(lock_file_.c_str());
    ::close(lock_);
    throw;
  }
}

CheckpointStore::~CheckpointStore() {
  ::unlink(lock_file_.c_str());
  ::close(lock_);
}

void CheckpointStore::lock() {
  // The former holder removes the file when it ends; a lock on a removed file is worth nothing, so take the next one.
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    const int descriptor = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) throw DataError("{}: cannot open: {}", lock_file_.string(), std::strerror(errno));
    const int reason = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (reason == 0 && is_same_file(descriptor, lock_file_)) {
      const std::string pid = std::to_string(::getpid());
      // Only for the message below: a full disk must not stop a run that may be about to prune.
      if (::ftruncate(descriptor, 0) == 0) (void)!::write(descriptor, pid.data(), pid.size());
      lock_ = descriptor;
      return;
    }
    std::string holder(32, '\0');
    const ssize_t got = ::pread(descriptor, holder.data(), holder.size(), 0);
    holder.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    ::close(descriptor);
    if (reason == EWOULDBLOCK)
      throw DataError("{}: another process ({}) is writing checkpoints here", parent_.string(),
                      holder.empty() ? "unknown" : holder);
    if (reason != 0 && reason != EINTR)
      throw DataError("{}: cannot lock: {}", lock_file_.string(), std::strerror(reason));
  }
  throw DataError("{}: changes hands all the time, cannot lock it", lock_file_.string());
}

void CheckpointStore::clear_strays() {
  for (const std::string& name : names_in(parent_)) {
    const std::optional<std::int64_t> step = hidden_step(name, kReplaced);
    if (!step || fs::exists(parent_ / checkpoint_name(*step))) continue;
    fs::rename(parent_ / name, parent_ / checkpoint_name(*step));
    sync_folder(parent_);
    recovered_.push_back(name);
  }
  for (const std::string& name : names_in(parent_))
    for (const std::string_view suffix : {kWriting, kDeleting, kReplaced})
      if (hidden_step(name, suffix)) {
        fs::remove_all(parent_ / name);
        recovered_.push_back(name);
      }
}

fs::path CheckpointStore::save(const SaveRequest& request, const std::function<void(const fs::path& folder)>& write) {
  EFLOPS_CHECK(request.step >= 0, "step {}", request.step);
  const fs::path folder = parent_ / checkpoint_name(request.step);
  const fs::path temporary = hidden(parent_, request.step, kWriting);
  const fs::path replaced = hidden(parent_, request.step, kReplaced);
  std::error_code ignored;
  try {
    with_data_errors([&] {
      fs::remove_all(temporary);
      fs::create_directories(temporary / "trainer");
      write(temporary);
      seal(temporary, request);
      if (fs::exists(folder)) {
        fs::remove_all(replaced);
        fs::rename(folder, replaced);
      }
      fs::rename(temporary, folder);
      sync_folder(parent_);
    });
  } catch (...) {
    fs::remove_all(temporary, ignored);
    if (!fs::exists(folder, ignored)) fs::rename(replaced, folder, ignored);
    throw;
  }
  fs::remove_all(replaced, ignored);  // where that fails, the next save or start tries again
  return folder;
}

std::vector<std::int64_t> CheckpointStore::prune(const KeepOptions& keep, Better better) {
  std::vector<std::int64_t> removed;
  if (keep.keep_last == 0) return removed;
  struct Scored {
    double badness;
    std::int64_t step;
    auto operator<=>(const Scored&) const = default;
  };
  std::vector<std::int64_t> complete;
  std::vector<Scored> scored;
  for (const std::int64_t step : checkpoint_steps(parent_)) {
    try {
      const Manifest manifest = check_sizes(parent_ / checkpoint_name(step));
      complete.push_back(step);
      if (manifest.metric) scored.push_back({better == Better::Lower ? *manifest.metric : -*manifest.metric, step});
    } catch (const DataError& error) {
      log::warning("damaged, so neither counted nor removed: {}", error.what());
    }
  }
  std::set<std::int64_t> kept;
  for (std::size_t i = 0; i < complete.size(); ++i)
    if (static_cast<std::int64_t>(complete.size() - i) <= keep.keep_last) kept.insert(complete[i]);
  std::sort(scored.begin(), scored.end());
  for (std::size_t i = 0; i < scored.size() && static_cast<std::int64_t>(i) < keep.keep_best; ++i)
    kept.insert(scored[i].step);
  with_data_errors([&] {
    for (const std::int64_t step : complete)
      if (!kept.contains(step)) {
        remove_checkpoint(parent_, step);
        removed.push_back(step);
      }
  });
  return removed;
}

std::vector<std::int64_t> checkpoint_steps(const fs::path& parent) {
  std::vector<std::int64_t> steps;
  const std::vector<std::string> names =
      with_data_errors([&] { return fs::is_directory(parent) ? names_in(parent) : std::vector<std::string>(); });
  for (const std::string& name : names)
    if (const std::optional<std::int64_t> step = checkpoint_step(name)) steps.push_back(*step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

LatestCheckpoint latest_valid(const fs::path& parent) {
  LatestCheckpoint latest;
  std::vector<std::int64_t> steps = checkpoint_steps(parent);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const fs::path folder = parent / checkpoint_name(*step);
    try {
      latest.manifest = verify_checkpoint(folder);
      latest.folder = folder;
      return latest;
    } catch (const DataError& error) {
      latest.skipped.push_back(error.what());
    }
  }
  return latest;
}

}  // namespace eflops::checkpoint
