#include "comm/watchdog.h"

#include <unistd.h>

#include <cstdio>

#include "base/error.h"

namespace eflops::comm {

Watchdog::Watchdog() : thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void Watchdog::arm(Deadline deadline, const std::string& line) {
  {
    const std::lock_guard lock(mutex_);
    armed_ = true;
    deadline_ = deadline;
    line_ = line;
  }
  news_.notify_one();
}

void Watchdog::disarm() {
  // The thread need not wake: when the old deadline comes it finds nothing to do.
  const std::lock_guard lock(mutex_);
  armed_ = false;
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    if (!armed_) {
      news_.wait(lock);
    } else if (news_.wait_until(lock, deadline_) == std::cv_status::timeout && armed_ &&
               std::chrono::steady_clock::now() >= deadline_) {
      std::fprintf(stderr, "%s\n", line_.c_str());
      std::fflush(stderr);
      ::_exit(static_cast<int>(ExitCode::Timeout));
    }
  }
}

}  // namespace eflops::comm
