#include "comm/shm_transport.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "comm/inproc_bootstrap.h"
#include "comm/process_watch.h"
#include "comm/shm_segment.h"

namespace eflops::comm {
namespace {

using ::testing::HasSubstr;

bool exists(const std::string& name) { return std::filesystem::exists("/dev/shm" + name); }

/// Runs body in a child process and returns its exit status.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Gives this process mounts of its own, as root or in a user name space where it is root.
bool own_mounts() {
  const uid_t user = ::geteuid();
  if (user == 0) {
    if (::unshare(CLONE_NEWNS) != 0) return false;
  } else {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST(ShmSegment, IsSeenByOthersAndGoesWithItsOwner) {
  std::string name;
  {
    ShmSegment mine = ShmSegment::create(5000);
    name = mine.name();
    const ShmSegment theirs = ShmSegment::open(name, 5000);
    EXPECT_NE(mine.data(), theirs.data());
    mine.data()[4999] = std::byte{7};
    EXPECT_EQ(theirs.data()[4999], std::byte{7});
    ShmSegment moved = std::move(mine);
    EXPECT_TRUE(exists(name));
  }
  EXPECT_FALSE(exists(name));
  EXPECT_THROW(ShmSegment::open(name, 5000), CommError);
}

TEST(ShmSegment, WhatAKilledProcessLeavesIsRemovedAndWhatLivesStays) {
  const ShmSegment living = ShmSegment::create(100);
  int names[2];
  ASSERT_EQ(::pipe(names), 0);
  in_child([&] {
    const auto* const segment = new ShmSegment(ShmSegment::create(100));  // never deleted, as after a kill
    return ::write(names[1], segment->name().c_str(), segment->name().size() + 1) > 0 ? 0 : 1;
  });
  char left[200] = {};
  ASSERT_GT(::read(names[0], left, sizeof left - 1), 0);
  ::close(names[0]);
  ::close(names[1]);
  EXPECT_TRUE(exists(left));
  EXPECT_GE(remove_dead_segments(), 1);
  EXPECT_FALSE(exists(left));
  EXPECT_TRUE(exists(living.name()));
}

TEST(ShmSegment, OfAnotherSpaceOfProcessesIsNotTouched) {
  const std::string foreign = "/dev/shm/eflops-1-999999999-1-0";  // 1 is no name space's number
  std::ofstream(foreign) << "x";
  remove_dead_segments();
  EXPECT_TRUE(std::filesystem::exists(foreign));
  std::filesystem::remove(foreign);
}

// known_faults C34: a full /dev/shm must not kill the process with SIGBUS.
TEST(ShmSegment, AFullFileSystemIsAnErrorThatSaysWhatIsFree) {
  constexpr int kCannotMount = 77;
  const int status = in_child([] {
    if (!own_mounts() || ::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64k") != 0) {
      return kCannotMount;
    }
    try {
      ShmSegment::create(1 << 20);
    } catch (const CommError& error) {
      const std::string text = error.what();
      const bool tells = text.find("cannot reserve 1048576 bytes of shared memory, 65536 bytes are free") != text.npos;
      return tells && std::filesystem::is_empty("/dev/shm") ? 0 : 1;
    }
    return 2;
  });
  if (status == kCannotMount) GTEST_SKIP() << "this machine forbids mounts in a user namespace";
  EXPECT_EQ(status, 0);
}

TEST(ProcessWatch, SeesTheEndOfAProcessThatNobodyHasWaitedFor) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const ProcessWatch watch(child);
  EXPECT_FALSE(watch.has_ended());
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);  // a zombie still
  EXPECT_TRUE(watch.has_ended());
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(ShmTransport, LeavesNothingUnderDevShm) {
  const auto count = [] {
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      found += entry.path().filename().string().find(fmt::format("-{}-", ::getpid())) != std::string::npos ? 1 : 0;
    }
    return found;
  };
  const int before = count();
  run_threads(
      3, [](Bootstrap& bootstrap) { return make_shm_transport(bootstrap); },
      [&](Transport& transport) {
        const auto memory = transport.allocate(1000);
        EXPECT_GT(count(), before);
      });
  EXPECT_EQ(count(), before);
}

TEST(ShmTransport, ALimitOfBuffersIsAnError) {
  run_threads(
      1, [](Bootstrap& bootstrap) { return make_shm_transport(bootstrap); },
      [](Transport& transport) {
        std::vector<std::shared_ptr<std::byte>> buffers;
        for (int i = 0; i < 64; ++i) buffers.push_back(transport.allocate(1));
        EXPECT_THROW(transport.allocate(1), CommError);
        buffers.pop_back();
        EXPECT_NO_THROW(transport.allocate(1));
      });
}

TEST(RunThreads, ARankThatCannotStartEndsTheOthers) {
  EXPECT_THROW(run_threads(
                   3,
                   [](Bootstrap& bootstrap) {
                     if (bootstrap.rank() == 1) throw DataError("no start");
                     return make_shm_transport(bootstrap);
                   },
                   [](Transport&) {}),
               DataError);
}

}  // namespace
}  // namespace eflops::comm
