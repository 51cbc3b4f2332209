#pragma once

#include "coll/schedule.h"

namespace eflops::coll {

/// Servers of `group_size` consecutive ranks: reduce-scatter inside each server, allreduce of each block among the
/// ranks that hold it by algorithm `inner`, all-gather inside. Every rank's network port carries 1/group_size of the
/// data. Inside a server: nearest-first halving for a power of two, a ring otherwise. ranks must be a multiple of
/// group_size.
RankSchedule hierarchical_allreduce(const Problem& problem, int rank);

}  // namespace eflops::coll
