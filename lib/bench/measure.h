#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/pattern.h"
#include "comm/collective.h"

namespace eflops::bench {

enum class Place { Out, In };                ///< of the result: a buffer of its own, or over the input
enum class Cadence { Isolated, Streaming };  ///< a barrier before each iteration, or one before all
enum class Cache { Hot, Cold };              ///< cold: every rank reads other memory before each iteration

/// How often a row is timed.
struct Iterations {
  std::int64_t warmup = 5;
  std::int64_t least = 20;
  std::int64_t most = 1000;
  /// Stop from `least` on when the 95 % interval of the median is at most this share of it wide; 0: always take `most`.
  double precision = 0.05;
  double seconds = 2;  ///< no further iteration begins after this time in the row
};

/// One row: a collective of one size, how it is done and how it is timed.
struct RowRequest {
  coll::Problem problem;
  comm::Execution execution;
  Place place = Place::Out;
  Cadence cadence = Cadence::Isolated;
  Cache cache = Cache::Hot;
  Iterations iterations;
  bool check = true;      ///< compare the results
  double timeout_s = 30;  ///< of one run
};

/// What rank 0 learns; the other ranks get an empty one.
struct RowResult {
  std::vector<double> seconds;  ///< of each iteration, the slowest rank's
  std::int64_t wrong = 0;       ///< elements on all ranks in all iterations
  std::int64_t checked = 0;     ///< iterations whose results were compared
  bool is_precise = false;      ///< the interval was narrow enough
};

/// One way to do a row's problem.
struct Candidate {
  comm::PreparedCollective* prepared;  ///< of `request`
  RowRequest request;
};

/// Times one or more ways of one problem, a batch of each in turn, so that what disturbs the machine meets all of them
/// alike; all ranks call it together. Results are poisoned before and compared with the exact answer after every
/// iteration, outside the clock (streaming: after the last one). The clock of an iteration runs from the barrier to the
/// moment the slowest rank holds its result. All use the same buffers, which lie in the transport's own memory if
/// `registered`. The results have the order of `candidates`.
std::vector<RowResult> measure(comm::Transport& transport, std::span<const Candidate> candidates, bool registered);

}  // namespace eflops::bench
