#pragma once

#include "coll/schedule.h"

namespace eflops::coll {

// Block j of rank i's Input becomes block i of rank j's Data. Elements must be a multiple of ranks.

/// p - 1 rounds; in round s each rank sends to the one s further and receives from the one s before: (p-1)/p of the
/// data.
RankSchedule pairwise_all_to_all(const Problem& problem, int rank);
/// Bruck et al. 1997: blocks hop by the bits of their distance, ceil(log2 p) messages of about half the data each; for
/// small blocks. Uses a scratch buffer as large as Data.
RankSchedule bruck_all_to_all(const Problem& problem, int rank);

}  // namespace eflops::coll
