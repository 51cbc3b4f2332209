#include "comm/process_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace eflops::comm {

ProcessWatch::ProcessWatch(pid_t process)
    : process_(process), descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {}

ProcessWatch::~ProcessWatch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ProcessWatch::ProcessWatch(ProcessWatch&& other) noexcept
    : process_(other.process_), descriptor_(std::exchange(other.descriptor_, -1)) {}

bool ProcessWatch::has_ended() const {
  if (descriptor_ < 0) return ::kill(process_, 0) != 0 && errno == ESRCH;
  pollfd waited{descriptor_, POLLIN, 0};
  return ::poll(&waited, 1, 0) == 1;
}

}  // namespace eflops::comm
