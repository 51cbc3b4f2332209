#include "checkpoint/directory.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "checkpoint_testing.h"

namespace eflops::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::data_error;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::write_raw;

void fill(const fs::path& folder) {
  write_raw(folder / "model.safetensors", "weights");
  write_raw(folder / "trainer" / "state.json", "{}");
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    names.push_back(entry.path().lexically_relative(folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Checkpoint, HasTheFilesAndAManifestOfThem) {
  const TemporaryFolder parent;
  CheckpointStore store(parent.path());
  EXPECT_EQ(store.save({.step = 200, .metric = 0.25}, fill), parent.path() / "checkpoint-200");
  EXPECT_THAT(names_in(parent.path() / "checkpoint-200"),
              ElementsAre("model.safetensors", "trainer", "trainer/manifest.json", "trainer/state.json"));
  const Manifest manifest = verify_checkpoint(parent.path() / "checkpoint-200");
  EXPECT_EQ(manifest.step, 200);
  EXPECT_EQ(manifest.metric, 0.25);
  ASSERT_EQ(manifest.files.size(), 2U);
  EXPECT_EQ(manifest.files[0].name, "model.safetensors");
  EXPECT_EQ(manifest.files[0].bytes, 7U);
  EXPECT_EQ(manifest.files[0].xxh3, hex64(hash64("weights")));
  EXPECT_EQ(manifest.files[1].name, "trainer/state.json");
}

TEST(Checkpoint, NaNIsNoMetric) {
  const TemporaryFolder parent;
  CheckpointStore store(parent.path());
  EXPECT_EQ(read_manifest(store.save({.step = 1, .metric = std::nan("")}, fill)).metric, std::nullopt);
}

TEST(Checkpoint, SavingAStepAgainReplacesIt) {
  const TemporaryFolder parent;
  {
    CheckpointStore store(parent.path());
    store.save({.step = 5}, fill);
    store.save({.step = 5}, [](const fs::path& folder) { write_raw(folder / "other", "x"); });
  }
  EXPECT_THAT(names_in(parent.path()), ElementsAre("checkpoint-5", "checkpoint-5/other", "checkpoint-5/trainer",
                                                   "checkpoint-5/trainer/manifest.json"));
  EXPECT_EQ(verify_checkpoint(parent.path() / "checkpoint-5").files.size(), 1U);
}

TEST(Checkpoint, AFailedSaveLeavesNothing) {
  const TemporaryFolder parent;
  {
    CheckpointStore store(parent.path());
    store.save({.step = 1}, fill);
    const auto fail = [](const fs::path& folder) {
      fill(folder);
      throw CheckFailed("stop");
    };
    EXPECT_THROW(store.save({.step = 2}, fail), CheckFailed);
    EXPECT_THROW(store.save({.step = 1}, fail), CheckFailed);
    EXPECT_EQ(data_error([&] {
                store.save({.step = 2}, [](const fs::path& folder) { fs::create_symlink("/", folder / "link"); });
              }),
              (parent.path() / ".checkpoint-2.writing").string() + ": link: not a regular file");
  }
  EXPECT_THAT(names_in(parent.path()),
              ElementsAre("checkpoint-1", "checkpoint-1/model.safetensors", "checkpoint-1/trainer",
                          "checkpoint-1/trainer/manifest.json", "checkpoint-1/trainer/state.json"));
  EXPECT_EQ(verify_checkpoint(parent.path() / "checkpoint-1").step, 1);
}

TEST(Checkpoint, FileSystemErrorsAreDataErrors) {
  const TemporaryFolder parent;
  write_raw(parent.path() / "file", "x");
  EXPECT_EQ(data_error([&] { CheckpointStore store(parent.path() / "file"); }),
            (parent.path() / "file").string() + ": Not a directory");
  CheckpointStore store(parent.path());
  EXPECT_EQ(
      data_error([&] { store.save({.step = 1}, [](const fs::path& f) { fs::create_directory(f / "a" / "b"); }); }),
      (parent.path() / ".checkpoint-1.writing" / "a" / "b").string() + ": No such file or directory");
}

TEST(Strays, OfAKilledWriterAreRemovedAtStart) {
  const TemporaryFolder parent;
  const fs::path p = parent.path();
  write_raw(p / ".checkpoint-3.writing" / "model.safetensors", "half");
  write_raw(p / ".checkpoint-2.deleting" / "model.safetensors", "old");
  write_raw(p / "checkpoint-1" / "x", "new");
  write_raw(p / ".checkpoint-1.replaced" / "x", "old");
  write_raw(p / ".checkpoint.lock", "12345");
  write_raw(p / ".checkpoint-x.writing", "a file of someone else");
  {
    const CheckpointStore store(p);
    EXPECT_THAT(store.recovered(),
                ElementsAre(".checkpoint-1.replaced", ".checkpoint-2.deleting", ".checkpoint-3.writing"));
  }
  EXPECT_THAT(names_in(p), ElementsAre(".checkpoint-x.writing", "checkpoint-1", "checkpoint-1/x"));
  EXPECT_EQ(read_file(p / "checkpoint-1" / "x"), "new");
}

// Killed between the two renames of a replacement: the old one is whole and must be found again.
TEST(Strays, AReplacedCheckpointWithoutSuccessorIsPutBack) {
  const TemporaryFolder parent;
  {
    CheckpointStore store(parent.path());
    store.save({.step = 7}, fill);
  }
  fs::rename(parent.path() / "checkpoint-7", parent.path() / ".checkpoint-7.replaced");
  const CheckpointStore store(parent.path());
  EXPECT_EQ(latest_valid(parent.path()).folder, parent.path() / "checkpoint-7");
}

TEST(Lock, ASecondWriterIsRefusedByProcessId) {
  const TemporaryFolder parent;
  CheckpointStore store(parent.path());
  EXPECT_EQ(
      data_error([&] { CheckpointStore second(parent.path()); }),
      parent.path().string() + ": another process (" + std::to_string(::getpid()) + ") is writing checkpoints here");
  store.save({.step = 1}, fill);
}

TEST(Lock, IsFreedWithItsFile) {
  const TemporaryFolder parent;
  { const CheckpointStore store(parent.path()); }
  EXPECT_THAT(names_in(parent.path()), IsEmpty());
  const CheckpointStore again(parent.path());
}

class SavedCheckpoint : public ::testing::Test {
 protected:
  SavedCheckpoint() {
    CheckpointStore store(parent_.path());
    store.save({.step = 100}, fill);
    store.save({.step = 200}, fill);
  }

  /// Why latest_valid refused checkpoint-200, without the folder's name; it must have found checkpoint-100.
  std::string refusal() const {
    const LatestCheckpoint latest = latest_valid(parent_.path());
    EXPECT_EQ(latest.folder, parent_.path() / "checkpoint-100");
    EXPECT_EQ(latest.skipped.size(), 1U);
    if (latest.skipped.empty()) return "";
    const std::string prefix = newest_.string() + ": ";
    EXPECT_TRUE(latest.skipped[0].starts_with(prefix)) << latest.skipped[0];
    return latest.skipped[0].substr(prefix.size());
  }

  const TemporaryFolder parent_;
  const fs::path newest_ = parent_.path() / "checkpoint-200";
};

TEST_F(SavedCheckpoint, IsTheLatest) {
  const LatestCheckpoint latest = latest_valid(parent_.path());
  EXPECT_EQ(latest.folder, newest_);
  EXPECT_EQ(latest.manifest.step, 200);
  EXPECT_THAT(latest.skipped, IsEmpty());
}

TEST_F(SavedCheckpoint, IsRefusedWithoutItsManifest) {
  fs::remove(newest_ / "trainer" / "manifest.json");
  EXPECT_EQ(refusal(), "trainer/manifest.json: missing, so the checkpoint is not complete");
}

TEST_F(SavedCheckpoint, IsRefusedWithAFileTruncatedOrGoneOrAltered) {
  write_raw(newest_ / "model.safetensors", "weight");
  EXPECT_EQ(refusal(), "model.safetensors: 6 bytes, the manifest says 7");
  write_raw(newest_ / "model.safetensors", "weighty");
  EXPECT_EQ(refusal(), "model.safetensors: checksum " + hex64(hash64("weighty")) + ", the manifest says " +
                           hex64(hash64("weights")));
  fs::remove(newest_ / "model.safetensors");
  EXPECT_EQ(refusal(), "model.safetensors: No such file or directory");
}

TEST_F(SavedCheckpoint, IsRefusedUnderAnotherName) {
  fs::remove_all(newest_);
  fs::copy(parent_.path() / "checkpoint-100", newest_, fs::copy_options::recursive);
  EXPECT_EQ(refusal(), "trainer/manifest.json: step 100, the folder's name says 200");
}

TEST_F(SavedCheckpoint, MayBeCopiedToANameOfAnotherForm) {
  fs::copy(newest_, parent_.path() / "best", fs::copy_options::recursive);
  EXPECT_EQ(verify_checkpoint(parent_.path() / "best").step, 200);
  EXPECT_EQ(verify_checkpoint(newest_ / "").step, 200);
}

// Signed anew, so that only what is wrong in it can be the reason.
TEST_F(SavedCheckpoint, IsRefusedWithASignedManifestOfTheWrongForm) {
  const auto rewrite = [&](const std::string& from, const std::string& to) {
    std::string text = read_file(parent_.path() / "checkpoint-100" / kManifestName);
    std::string body = text.substr(0, text.rfind(",\n  \"manifest_xxh3\""));
    ASSERT_NE(body.find(from), std::string::npos);
    body.replace(body.find(from), from.size(), to);
    write_raw(newest_ / kManifestName, body + ",\n  \"manifest_xxh3\": \"" + hex64(hash64(body)) + "\"\n}\n");
  };
  rewrite("\"schema\": 1", "\"schema\": 2");
  EXPECT_EQ(refusal(), "trainer/manifest.json: schema 2, this build reads 1");
  rewrite("\"step\": 100", "\"step\": \"200\"");
  EXPECT_EQ(refusal(), "trainer/manifest.json: a key is missing or of another type");
  rewrite("\"model.safetensors\"", "\"../model.safetensors\"");
  EXPECT_EQ(refusal(), "trainer/manifest.json: file name \"../model.safetensors\"");
}

TEST(LatestValid, IsNoneInAnEmptyOrMissingFolder) {
  const TemporaryFolder parent;
  EXPECT_EQ(latest_valid(parent.path()).folder, std::nullopt);
  EXPECT_EQ(latest_valid(parent.path() / "none").folder, std::nullopt);
}

TEST(LatestValid, ComparesStepsAsNumbers) {
  const TemporaryFolder parent;
  CheckpointStore store(parent.path());
  for (const std::int64_t step : {900, 1000, 0}) store.save({.step = step}, fill);
  EXPECT_EQ(latest_valid(parent.path()).manifest.step, 1000);
}

TEST(CheckpointName, IsReadStrictly) {
  EXPECT_EQ(checkpoint_step("checkpoint-12"), 12);
  EXPECT_EQ(checkpoint_step(checkpoint_name(0)), 0);
  for (const char* name : {"checkpoint-", "checkpoint-012", "checkpoint--1", "checkpoint-1x", "checkpoint-+1",
                           "Checkpoint-1", "checkpoint-99999999999999999999"})
    EXPECT_EQ(checkpoint_step(name), std::nullopt) << name;
}

class Pruning : public ::testing::Test {
 protected:
  /// Saves steps 1, 2, ... with these metrics.
  void save(const std::vector<std::optional<double>>& metrics) {
    std::int64_t step = 0;
    for (const auto& metric : metrics) store_.save({.step = ++step, .metric = metric}, fill);
  }

  const TemporaryFolder parent_;
  CheckpointStore store_{parent_.path()};
};

TEST_F(Pruning, KeepsTheNewestAndTheBest) {
  save({0.5, 0.9, 0.7, 0.6, 0.1});
  EXPECT_THAT(store_.prune({.keep_last = 2, .keep_best = 1}, Better::Higher), ElementsAre(1, 3));
  EXPECT_THAT(checkpoint_steps(parent_.path()), ElementsAre(2, 4, 5));
}

TEST_F(Pruning, KnowsLowerIsBetter) {
  save({0.5, 0.2, 0.7, 0.6});
  EXPECT_THAT(store_.prune({.keep_last = 1, .keep_best = 1}, Better::Lower), ElementsAre(1, 3));
}

TEST_F(Pruning, OfEqualMetricsTheOlderIsBetterAndNoneIsNotBest) {
  save({std::nullopt, 0.5, 0.5, std::nullopt});
  EXPECT_THAT(store_.prune({.keep_last = 1, .keep_best = 1}, Better::Higher), ElementsAre(1, 3));
}

TEST_F(Pruning, ZeroKeepsAll) {
  save({0.1, 0.2});
  EXPECT_THAT(store_.prune({.keep_last = 0, .keep_best = 0}, Better::Higher), IsEmpty());
}

// 3 is damaged: were it counted, 2 would go and nothing valid would be left.
TEST_F(Pruning, DamagedOnesDoNotCountAndStay) {
  save({std::nullopt, std::nullopt, std::nullopt});
  write_raw(parent_.path() / "checkpoint-3" / "model.safetensors", "torn");
  EXPECT_THAT(store_.prune({.keep_last = 1, .keep_best = 0}, Better::Higher), ElementsAre(1));
  EXPECT_THAT(checkpoint_steps(parent_.path()), ElementsAre(2, 3));
  EXPECT_EQ(latest_valid(parent_.path()).manifest.step, 2);
}

}  // namespace
}  // namespace eflops::checkpoint
