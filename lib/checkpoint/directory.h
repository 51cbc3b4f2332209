#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "checkpoint/manifest.h"

namespace eflops::checkpoint {

/// Which metric value keep-best prefers.
enum class Better { Higher, Lower };

/// What pruning leaves.
struct KeepOptions {
  std::int64_t keep_last = 3;
  std::int64_t keep_best = 1;

  void visit_fields(OptionVisitor& v) {
    v("keep_last", keep_last, "newest checkpoints to keep; 0 keeps all",
      {.min = 0, .aliases = {"save_total_limit"}, .changes_result = false});
    v("keep_best", keep_best, "checkpoints with the best held-out metric to keep besides",
      {.min = 0, .changes_result = false});
  }
};

struct SaveRequest {
  std::int64_t step = 0;                        ///< names the folder: checkpoint-STEP
  std::optional<double> metric = std::nullopt;  ///< for keep-best; NaN counts as none
};

/// The one writer of checkpoints in a folder. While it lives it holds a lock there, which the kernel frees however the
/// process ends; so what an earlier writer left half done can be told apart and removed. Not thread-safe.
class CheckpointStore {
 public:
  /// Makes `parent` if need be, locks it, removes what a killed writer left. DataError when another process holds it.
  explicit CheckpointStore(const std::filesystem::path& parent);
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// Names of the unfinished folders that the constructor removed or put back.
  const std::vector<std::string>& recovered() const { return recovered_; }

  /// `write` fills a folder (whose subfolder `trainer` exists). Then every file is synced, checksummed into the
  /// manifest, and the folder renamed to `parent/checkpoint-STEP`, in place of an earlier one of that step. On any
  /// exception nothing of it stays, older checkpoints are as they were, and a file-system error leaves as DataError.
  /// Returns the new folder.
  std::filesystem::path save(const SaveRequest& request,
                             const std::function<void(const std::filesystem::path& folder)>& write);

  /// Removes all but the newest `keep_last` and the best `keep_best`; of equal metrics the older is better. Checkpoints
  /// whose manifest or sizes are wrong do not count and are left for a person to look at. Returns the removed steps.
  std::vector<std::int64_t> prune(const KeepOptions& keep, Better better);

 private:
  void lock();
  void clear_strays();

  std::filesystem::path parent_;
  std::filesystem::path lock_file_;
  int lock_ = -1;
  std::vector<std::string> recovered_;
};

/// Steps of the folders `checkpoint-STEP` in `parent`, ascending, complete or not. Empty when there is no such folder.
std::vector<std::int64_t> checkpoint_steps(const std::filesystem::path& parent);

struct LatestCheckpoint {
  std::optional<std::filesystem::path> folder;  ///< none when no checkpoint is valid
  Manifest manifest;
  std::vector<std::string> skipped;  ///< newer ones and why each was refused: "FOLDER: FILE: reason"
};

/// The newest checkpoint in `parent` whose sizes and checksums are right.
LatestCheckpoint latest_valid(const std::filesystem::path& parent);

}  // namespace eflops::checkpoint
