#include "data/sharding_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace eflops::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStaging = ".partial";
constexpr const char* kLock = "lock";
constexpr std::string_view kShardEnding = ".shard";

bool is_ours(const std::string& name) {
  return name == kStaging || name == kManifestName || name == kTokenizerFolder ||
         (name.size() > kShardEnding.size() && name.ends_with(kShardEnding));
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) found.push_back(entry.path());
  if (error) throw DataError("{}: cannot read the folder: {}", folder.string(), error.message());
  return found;
}

/// The topmost folder that has to be made for `folder` to exist; empty when it exists.
fs::path first_missing(fs::path folder) {
  fs::path missing;
  for (; !folder.empty() && !fs::exists(folder); folder = folder.parent_path()) missing = folder;
  return missing;
}

}  // namespace

ShardFolder::ShardFolder(const fs::path& folder, ExistingShards existing)
    : folder_(fs::absolute(folder).lexically_normal()), staging_(folder_ / kStaging) {
  check(folder, existing);
  const fs::path missing = first_missing(folder_);
  std::error_code error;
  fs::create_directories(staging_, error);
  if (error) throw DataError("{}: cannot make the folder: {}", staging_.string(), error.message());
  lock();
  created_ = missing;
  for (const fs::path& left_over : entries(staging_))
    if (left_over.filename() != kLock) fs::remove_all(left_over);
}

void ShardFolder::check(const fs::path& folder, ExistingShards existing) {
  if (folder.empty()) throw ConfigError("output: name a folder for the shards");
  if (!fs::exists(folder)) return;
  if (!fs::is_directory(folder))
    throw ConfigError("output {} is a file; name a folder for the shards", folder.string());
  bool has_shards = false;
  bool has_anything = false;
  for (const fs::path& entry : entries(folder)) {
    const std::string name = entry.filename().string();
    if (name == kStaging) continue;
    has_anything = true;
    has_shards = has_shards || name == kManifestName || name.ends_with(kShardEnding);
    if (!is_ours(name))
      throw ConfigError("output {} holds {}, which eflops-data did not write; name another folder", folder.string(),
                        name);
    if (existing == ExistingShards::Refuse)
      throw ConfigError("output {} is not empty (it holds {}); name another folder, or replace it with --overwrite",
                        folder.string(), name);
  }
  if (has_anything && !has_shards)
    throw ConfigError("output {} is not empty and holds no shards; name another folder", folder.string());
}

void ShardFolder::lock() {
  const fs::path file = staging_ / kLock;
  lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) throw DataError("{}: cannot create: {}", file.string(), std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(lock_);
  throw ConfigError("output {}: another process is writing shards there", folder_.string());
}

ShardFolder::~ShardFolder() {
  std::error_code ignored;
  fs::remove_all(staging_, ignored);
  if (!committed_ && !created_.empty()) {
    // Only what is empty: somebody else may have put something there meanwhile.
    fs::path made = folder_;
    while (fs::remove(made, ignored) && made != created_) made = made.parent_path();
  }
  ::close(lock_);
}

std::string ShardFolder::shard_name(std::int64_t index) { return fmt::format("{:05}{}", index, kShardEnding); }

void ShardFolder::remove_old() const {
  fs::remove(folder_ / kManifestName);  // first: from here on the folder is not a finished one
  for (const fs::path& entry : entries(folder_))
    if (entry != staging_ && is_ours(entry.filename().string())) fs::remove_all(entry);
}

void ShardFolder::commit(const ShardManifest& manifest) {
  try {
    remove_old();
    for (const fs::path& entry : entries(staging_))
      if (entry.filename() != kLock) fs::rename(entry, folder_ / entry.filename());
    sync_folder(folder_);
  } catch (const fs::filesystem_error& error) {
    throw DataError("{}: cannot put the shards in place: {}", folder_.string(), error.code().message());
  }
  write_manifest(folder_, manifest);
  committed_ = true;
}

}  // namespace eflops::data
