#pragma once

#include <cstdint>
#include <vector>

#include "machine/binding.h"

namespace eflops::machine {

struct BandwidthRequest {
  std::int64_t repeats = 10;   ///< timed passes, after one that is not timed
  std::int64_t megabytes = 0;  ///< MB (10^6 bytes) per array; 0: four times the last-level caches, at least 64
};

/// Raw samples of one scope.
struct BandwidthResult {
  Scope scope;
  std::uint64_t array_bytes = 0;  ///< of one of the three arrays
  std::vector<double> samples;    ///< GB/s (10^9 bytes), one per pass
};

/// STREAM's triad a[i] = b[i] + s c[i] in double (McCalpin 1995), 24 bytes counted per element as STREAM does, in each
/// of the machine's measuring_scopes, with threads bound and pages first touched by the thread that uses them. Every
/// pass is checked by three elements of changing value (CheckFailed). DataError when a quarter of the available memory
/// does not hold the arrays. Not from inside a parallel loop.
std::vector<BandwidthResult> measure_bandwidth(const Machine& machine, const BandwidthRequest& request);

}  // namespace eflops::machine
