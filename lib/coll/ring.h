#pragma once

#include "coll/steps.h"

namespace eflops::coll {

// A ring of p positions: each sends to the next one. Every phase returns the first free round. A range is cut into p
// blocks; position i ends with block i whole.

/// p - 1 rounds; position i sends (p - 1) blocks and reduces as many.
int ring_reduce_scatter(Steps& steps, const Group& group, Range range, int round);
/// p - 1 rounds from block i at position i to all blocks everywhere.
int ring_all_gather(Steps& steps, const Group& group, Range range, int round);

/// Bandwidth-optimal: 2(p-1) rounds, 2(p-1)/p of the data sent (Patarasuk and Yuan 2009).
RankSchedule ring_allreduce(const Problem& problem, int rank);
/// As the ring, but blocks are reduced segment by segment, one ring after the other, so that a rank works on little
/// memory at a time: (phases + 1)(p - 1) rounds (Open MPI's segmented ring).
RankSchedule segmented_ring_allreduce(const Problem& problem, int rank);
RankSchedule ring_reduce_scatter(const Problem& problem, int rank);
RankSchedule ring_all_gather(const Problem& problem, int rank);

}  // namespace eflops::coll
