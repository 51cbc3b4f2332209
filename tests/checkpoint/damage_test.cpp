// Kills, full disks and flipped bits: whatever happens, the newest whole checkpoint is found and nothing else stays.
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "base/hash.h"
#include "base/random.h"
#include "checkpoint/directory.h"
#include "checkpoint/safetensors.h"
#include "checkpoint_testing.h"

namespace eflops::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::write_raw;

constexpr std::int64_t kElements = 5000;

/// Every element is the step, so that a mixture of two checkpoints would be seen.
void write_step(const fs::path& folder, std::int64_t step) {
  const std::vector<float> values(kElements, static_cast<float>(step));
  write_safetensors(folder / "model.safetensors", std::array{float_view("w", {kElements}, values)});
  write_safetensors(folder / "trainer" / "moments.safetensors", std::array{float_view("m", {kElements}, values)});
  write_file_atomically(folder / "config.json", std::to_string(step));
}

void expect_step(const fs::path& folder, std::int64_t step) {
  std::vector<float> values(kElements);
  copy_as_float(WeightFiles(folder / "trainer" / "moments.safetensors").at("m"), values);
  EXPECT_EQ(values, std::vector<float>(kElements, static_cast<float>(step)));
  EXPECT_EQ(read_file(folder / "config.json"), std::to_string(step));
}

void expect_only_checkpoints(const fs::path& parent) {
  for (const auto& entry : fs::directory_iterator(parent)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(checkpoint_step(name).has_value()) << "stray " << name;
    EXPECT_NO_THROW(verify_checkpoint(entry.path()));
  }
}

/// Runs `work` in a child and returns its exit status; an exception is status 99.
template <typename Work>
int in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(status);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A child that saves steps first, first + 1, ... (each second one twice), pruning to two, and reports each finished
/// step.
class Saver {
 public:
  Saver(const fs::path& parent, std::int64_t first) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw DataError("pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::close(ends[0]);
      try {
        save_forever(parent, first, ends[1]);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
      }
      ::_exit(99);
    }
    ::close(ends[1]);
    reports_ = ends[0];
  }
  ~Saver() { ::close(reports_); }
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  /// False when it does not come within 30 s.
  bool wait_for_report() {
    pollfd waiting{.fd = reports_, .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, 30'000) == 1 && read_report();
  }

  /// kill -9; returns the last step that the child knew to be saved.
  std::int64_t kill() {
    ::kill(child_, SIGKILL);
    int status = 0;
    ::waitpid(child_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    while (read_report()) {
    }
    return last_;
  }

 private:
  static void save_forever(const fs::path& parent, std::int64_t first, int reports) {
    CheckpointStore store(parent);
    for (std::int64_t step = first;; ++step) {
      const int times = step % 2 == 0 ? 2 : 1;
      for (int i = 0; i < times; ++i)
        store.save({.step = step}, [&](const fs::path& folder) { write_step(folder, step); });
      if (::write(reports, &step, sizeof(step)) != sizeof(step)) return;
      store.prune({.keep_last = 2, .keep_best = 0}, Better::Higher);
    }
  }

  bool read_report() { return ::read(reports_, &last_, sizeof(last_)) == sizeof(last_); }

  pid_t child_ = -1;
  int reports_ = -1;
  std::int64_t last_ = -1;
};

// T35. The delay after the first finished save is spread over about two saves' time.
TEST(KillNine, AtRandomMomentsLeavesAResumableFolder) {
  const TemporaryFolder parent;
  Random random(1, Purpose::Test);
  std::int64_t step = 1;
  for (int round = 0; round < 100; ++round) {
    Saver saver(parent.path(), step);
    ASSERT_TRUE(saver.wait_for_report());
    ::usleep(static_cast<useconds_t>(random.below(60'000)));
    const std::int64_t acknowledged = saver.kill();

    CheckpointStore next(parent.path());
    const LatestCheckpoint latest = latest_valid(parent.path());
    ASSERT_TRUE(latest.folder.has_value()) << "round " << round;
    EXPECT_TRUE(latest.skipped.empty()) << latest.skipped.front();
    EXPECT_GE(latest.manifest.step, acknowledged);
    EXPECT_LE(latest.manifest.step, acknowledged + 1);
    expect_step(*latest.folder, latest.manifest.step);
    fs::remove(parent.path() / ".checkpoint.lock");
    expect_only_checkpoints(parent.path());
    // The child may have died before it pruned, every time.
    next.prune({.keep_last = 2, .keep_best = 0}, Better::Higher);
    EXPECT_LE(checkpoint_steps(parent.path()).size(), 2U);
    step = latest.manifest.step + 1;
  }
}

// T35. Each position is one bit of one byte of one of the four files; every byte is covered by a checksum.
TEST(BitFlip, AtRandomOffsetsIsDetected) {
  const TemporaryFolder parent;
  CheckpointStore store(parent.path());
  const fs::path folder = store.save({.step = 3}, [](const fs::path& f) { write_step(f, 3); });
  const std::array files = {"model.safetensors", "trainer/moments.safetensors", "config.json", kManifestName};
  Random random(2, Purpose::Test);
  for (int i = 0; i < 200; ++i) {
    const fs::path file = folder / files[static_cast<std::size_t>(i) % files.size()];
    const std::string good = read_file(file);
    std::string bad = good;
    const std::size_t offset = random.below(good.size());
    bad[offset] = static_cast<char>(bad[offset] ^ (1 << random.below(8)));
    write_raw(file, bad);
    EXPECT_THROW(verify_checkpoint(folder), DataError) << file << " byte " << offset;
    write_raw(file, good);
  }
  EXPECT_NO_THROW(verify_checkpoint(folder));
}

TEST(Truncation, AtRandomLengthsIsDetected) {
  const TemporaryFolder parent;
  CheckpointStore store(parent.path());
  const fs::path folder = store.save({.step = 3}, [](const fs::path& f) { write_step(f, 3); });
  Random random(3, Purpose::Test);
  for (const char* name : {"model.safetensors", kManifestName})
    for (int i = 0; i < 20; ++i) {
      const std::string good = read_file(folder / name);
      write_raw(folder / name, good.substr(0, random.below(good.size())));
      EXPECT_THROW(verify_checkpoint(folder), DataError) << name;
      write_raw(folder / name, good);
    }
}

/// Saves step 1 where it fits, lets step 2 fail, and checks what is left. Returns the error's message.
std::string save_until_full(CheckpointStore& store, const fs::path& parent, std::int64_t bytes) {
  const std::vector<std::byte> large(static_cast<std::size_t>(bytes));
  const TensorView tensor{.name = "w", .dtype = "U8", .shape = {bytes}, .bytes = large};
  store.save({.step = 1}, [](const fs::path& folder) { write_step(folder, 1); });
  std::string message;
  try {
    store.save({.step = 2}, [&](const fs::path& f) { write_safetensors(f / "model.safetensors", std::array{tensor}); });
  } catch (const DataError& error) {
    message = error.what();
  }
  fs::remove(parent / ".checkpoint.lock");
  expect_only_checkpoints(parent);
  EXPECT_EQ(checkpoint_steps(parent), std::vector<std::int64_t>{1});
  return message;
}

TEST(DiskFull, AFileSizeLimitIsADataErrorAndLeavesOldCheckpoints) {
  const TemporaryFolder parent;
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    CheckpointStore store(parent.path());
    const std::string message = save_until_full(store, parent.path(), 3 << 20);
    const bool right = message == (parent.path() / ".checkpoint-2.writing" / "model.safetensors").string() +
                                      ": cannot write: File too large";
    return right && !::testing::Test::HasFailure() ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST(DiskFull, OnASmallFileSystemIsADataErrorAndLeavesOldCheckpoints) {
  const TemporaryFolder parent;
  constexpr int kCannotMount = 77;
  const int status = in_child([&] {
    // A mount namespace of the child's own: nothing to unmount, nothing seen outside.
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kCannotMount;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kCannotMount;
    if (::mount("tmpfs", parent.path().c_str(), "tmpfs", 0, "size=1m") != 0) return kCannotMount;
    CheckpointStore store(parent.path());
    const std::string message = save_until_full(store, parent.path(), 3 << 20);
    const bool right = message.ends_with(": cannot write: No space left on device");
    return right && !::testing::Test::HasFailure() ? 0 : 2;
  });
  if (status == kCannotMount) GTEST_SKIP() << "this user may not mount a tmpfs in a namespace of its own";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace eflops::checkpoint
