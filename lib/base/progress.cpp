#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>

namespace eflops {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr Seconds kTerminalInterval{0.1};
constexpr Seconds kPlainInterval{10.0};
std::atomic<bool> quiet{false};

}  // namespace

std::string format_duration(std::chrono::duration<double> time) {
  const double seconds = time.count();
  if (!(seconds >= 0)) return "?";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string format_si(double value) {
  constexpr std::array<const char*, 5> prefixes{"", " k", " M", " G", " T"};
  std::size_t step = 0;
  // 999.5 would print as 1000 of the smaller prefix.
  while (std::abs(value) >= 999.5 && step + 1 < prefixes.size()) {
    value /= 1000;
    ++step;
  }
  const double size = std::abs(value);
  if (step == 0 && value == std::floor(value)) return fmt::format("{:.0f}", value);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, prefixes[step]);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t step = 0;
  while (value >= 1023.95 && step + 1 < units.size()) {
    value /= 1024;
    ++step;
  }
  return step == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[step]);
}

Progress::Progress(std::string title, std::string unit, std::uint64_t total)
    : title_(std::move(title)), unit_(std::move(unit)), total_(total), terminal_(::isatty(STDERR_FILENO) == 1) {
  drawn_ = started_;
}

Progress::~Progress() {
  if (!finished_ && terminal_ && !quiet && counted_) std::fputc('\n', stderr);
}

void Progress::set_quiet(bool wanted) { quiet = wanted; }

void Progress::update(std::uint64_t done, const std::string& extra) {
  if (!counted_) {
    // A resumed job does not count what an earlier process did into its rate.
    done_first_ = done;
    counted_ = true;
  }
  done_ = done;
  const auto interval = terminal_ ? kTerminalInterval : kPlainInterval;
  if (Clock::now() - drawn_ < interval) return;
  draw(extra, false);
}

void Progress::finish(const std::string& extra) {
  if (finished_) return;
  finished_ = true;
  draw(extra, true);
}

void Progress::draw(const std::string& extra, bool last) {
  drawn_ = Clock::now();
  if (quiet) return;
  const Seconds elapsed = drawn_ - started_;
  const double rate = elapsed.count() > 0 ? static_cast<double>(done_ - done_first_) / elapsed.count() : 0;
  std::string line = fmt::format("{}: {}", title_, format_si(static_cast<double>(done_)));
  if (total_ > 0)
    line += fmt::format("/{} ({:.0f} %)", format_si(static_cast<double>(total_)),
                        100.0 * static_cast<double>(done_) / static_cast<double>(total_));
  line += fmt::format(" {}, {}/s", unit_, format_si(rate));
  if (last) {
    line += ", " + format_duration(elapsed);
  } else if (total_ > done_ && rate > 0) {
    line += ", ETA " + format_duration(Seconds(static_cast<double>(total_ - done_) / rate));
  }
  if (!extra.empty()) line += ", " + extra;
  const std::string framed = terminal_ ? "\r\033[K" + line + (last ? "\n" : "") : line + "\n";
  std::fputs(framed.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace eflops
