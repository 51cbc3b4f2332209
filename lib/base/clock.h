#pragma once

#include <chrono>
#include <string>

namespace eflops {

/// UTC now, "2026-01-31T12:34:56Z".
std::string utc_timestamp();
/// UTC now for folder names, "20260131-123456".
std::string utc_compact();

/// Seconds since construction or the last restart, monotonic.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace eflops
