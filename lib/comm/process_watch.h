#pragma once

#include <sys/types.h>

namespace eflops::comm {

/// Tells whether another process of this host still runs, a killed one that nobody has waited for yet included.
class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t process);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) = delete;

  pid_t process() const { return process_; }
  bool has_ended() const;

 private:
  pid_t process_;
  int descriptor_;  // a pidfd; -1 where the kernel has none
};

}  // namespace eflops::comm
