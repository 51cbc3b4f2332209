#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace eflops {

/// "1 h 02 min", "3 min 20 s", "12 s", "0.4 s".
std::string format_duration(std::chrono::duration<double> time);
/// "1.2 G", "431", "12.9 k": three significant digits with an SI prefix, for rates and counts.
std::string format_si(double value);
/// "512 B", "1.5 MiB".
std::string format_bytes(std::uint64_t bytes);

/// Progress of long work on stderr: one line redrawn on a terminal, else a plain line at most every `plain_interval`.
/// Shows done/total, a rate, an ETA and free text. Not thread-safe.
class Progress {
 public:
  /// `unit` is what is counted ("sentences"); total 0 means unknown (no ETA).
  Progress(std::string title, std::string unit, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` counts from 0; draws only when due.
  void update(std::uint64_t done, const std::string& extra = "");
  /// Draws the final state and ends the line.
  void finish(const std::string& extra = "");
  /// No output at all (--quiet).
  static void set_quiet(bool quiet);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const std::string& extra, bool last);

  std::string title_;
  std::string unit_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t done_first_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point drawn_{};
  bool terminal_ = false;
  bool finished_ = false;
  bool counted_ = false;
};

}  // namespace eflops
