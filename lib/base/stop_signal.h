#pragma once

#include <string>

namespace eflops {

/// While alive, SIGTERM, SIGINT and SIGUSR1 ask for a clean stop instead of ending the process (DESIGN D13); a second
/// SIGINT ends it at once. Restores the former handlers on destruction. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// True once a signal has come. Safe to call from any thread.
  static bool requested();
  /// "SIGTERM", or "" when none has come.
  static std::string name();
};

}  // namespace eflops
