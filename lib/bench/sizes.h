#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eflops::bench {

/// "8", "64K", "128M", "4G", also "64KiB", "64kb": binary multiples, as nccl-tests and OSU read them. ConfigError
/// naming `what` for anything else, for negative numbers and for sizes beyond 2^62.
std::int64_t parse_bytes(std::string_view text, std::string_view what);

/// The exact size where it has a short name ("64K", "128M"), else bytes ("100").
std::string bytes_text(std::int64_t bytes);

/// How sizes go from `begin` to `end`: plus `step` bytes where it is above 0, else times `factor`.
struct Sweep {
  std::int64_t begin = 8;
  std::int64_t end = 128 << 20;
  double factor = 2;
  std::int64_t step = 0;
};

/// The sizes of a sweep, both ends included where they are met, strictly ascending. ConfigError for a sweep that goes
/// nowhere (begin above end, no step and a factor of 1 or less) or has more than 10,000 sizes.
std::vector<std::int64_t> sizes_of(const Sweep& sweep);

}  // namespace eflops::bench
