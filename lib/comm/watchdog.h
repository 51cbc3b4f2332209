#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "comm/transport.h"

namespace eflops::comm {

/// Ends the process with exit code 5 and one line on stderr if a call that knows no deadline does not return in time;
/// for calls into libraries. Its thread sleeps until armed.
class Watchdog {
 public:
  Watchdog();
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Until disarm(): the line to print if `deadline` passes.
  void arm(Deadline deadline, const std::string& line);
  void disarm();

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable news_;
  bool armed_ = false;  // these four are guarded by mutex_
  bool leaving_ = false;
  Deadline deadline_;
  std::string line_;
  std::thread thread_;
};

}  // namespace eflops::comm
