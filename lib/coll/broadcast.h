#pragma once

#include "coll/schedule.h"

namespace eflops::coll {

/// A binomial tree from the root: ceil(log2 p) rounds of all the data.
RankSchedule binomial_broadcast(const Problem& problem, int rank);
/// The root's blocks are scattered down a binomial tree and gathered by a ring (van de Geijn): 2(p-1)/p of the data per
/// rank instead of log2 p times all of it.
RankSchedule scatter_ring_broadcast(const Problem& problem, int rank);

}  // namespace eflops::coll
