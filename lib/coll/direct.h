#pragma once

#include "coll/steps.h"

namespace eflops::coll {

// Everyone talks to everyone at once, in one round of p - 1 messages: the fewest steps, best inside a server. Each
// phase returns the first free round.

/// Position i gets block i of everyone and adds them in the order i+1, i+2 ... after its own.
int direct_reduce_scatter(Steps& steps, const Group& group, Range range, int round);
/// From block i at position i to all blocks everywhere.
int direct_all_gather(Steps& steps, const Group& group, Range range, int round);

RankSchedule direct_allreduce(const Problem& problem, int rank);
RankSchedule direct_reduce_scatter(const Problem& problem, int rank);
RankSchedule direct_all_gather(const Problem& problem, int rank);

}  // namespace eflops::coll
