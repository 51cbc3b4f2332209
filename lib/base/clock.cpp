#include "base/clock.h"

#include <fmt/chrono.h>

#include <ctime>

namespace eflops {
namespace {

std::tm utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return parts;
}

}  // namespace

std::string utc_timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc_now()); }

std::string utc_compact() { return fmt::format("{:%Y%m%d-%H%M%S}", utc_now()); }

}  // namespace eflops
