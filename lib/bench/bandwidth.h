#pragma once

#include <cstdint>
#include <optional>

#include "coll/schedule.h"

namespace eflops::bench {

/// What one size in one time amounts to, in GB/s of 10^9 bytes (nccl-tests, doc/PERFORMANCE.md). Size is the payload of
/// a rank for allreduce and broadcast, and the whole buffer for reduce-scatter, all-gather and all-to-all.
struct Bandwidth {
  double algorithm = 0;  ///< size / time
  /// algorithm times the collective's factor: a normalised rate that does not depend on the ranks where links are the
  /// limit, not a measurement of any wire. Nothing for one rank.
  std::optional<double> bus;
};

/// 2(p-1)/p for allreduce, (p-1)/p for reduce-scatter, all-gather and all-to-all, 1 for broadcast; 0 for one rank.
double bus_factor(coll::Collective collective, int ranks);

/// `seconds` > 0.
Bandwidth bandwidth(coll::Collective collective, int ranks, std::int64_t bytes, double seconds);

}  // namespace eflops::bench
