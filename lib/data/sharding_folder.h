#pragma once

#include <cstdint>
#include <filesystem>

#include "data/shard_manifest.h"

namespace eflops::data {

/// What happens to shards that the output folder holds already.
enum class ExistingShards { Refuse, Replace };

/// The output folder while shards are being written. Files are made in staging(), a hidden folder inside it, and appear
/// beside it at commit(), the manifest last: a folder with a manifest is whole. Without commit() nothing is left
/// behind, not even the folder if it was made here; what a killed process left is cleared by the next one.
class ShardFolder {
 public:
  /// ConfigError when the path is a file, holds something and replacing was not asked for, holds something that
  /// `eflops-data shard` did not write, or another process is writing into it.
  ShardFolder(const std::filesystem::path& folder, ExistingShards existing);
  /// The same errors, but for another process, without touching anything.
  static void check(const std::filesystem::path& folder, ExistingShards existing);
  ~ShardFolder();
  ShardFolder(const ShardFolder&) = delete;
  ShardFolder& operator=(const ShardFolder&) = delete;

  const std::filesystem::path& staging() const { return staging_; }
  /// "00003.shard" for index 3.
  static std::string shard_name(std::int64_t index);
  void commit(const ShardManifest& manifest);

 private:
  void lock();
  void remove_old() const;

  std::filesystem::path folder_;
  std::filesystem::path staging_;
  std::filesystem::path created_;  ///< topmost folder made here, removed without commit()
  int lock_ = -1;
  bool committed_ = false;
};

}  // namespace eflops::data
