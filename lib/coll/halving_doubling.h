#pragma once

#include "coll/steps.h"

namespace eflops::coll {

/// Which partner a position meets first in recursive halving: the one at distance 1 (MPICH, Gloo), or the one at half
/// the group's size, after which position i owns block i.
enum class Distance { NearestFirst, FarthestFirst };

/// Recursive halving over a power of two of positions: log2 p rounds; returns what this position holds whole
/// afterwards, which is block `position` for farthest first and block bit-reverse(position) for nearest first.
Range halving_reduce_scatter(Steps& steps, const Group& group, Range range, int round, Distance distance);
/// The way back, from the range that halving_reduce_scatter left to all of it everywhere: log2 p rounds.
void doubling_all_gather(Steps& steps, const Group& group, Range range, int round, Distance distance);
/// Rounds of either for a group of this size.
int halving_rounds(int group_size);

// Rabenseifner's allreduce: 2·log2 p rounds, 2(p-1)/p of the data sent. Other sizes than powers of two are folded.
// Nearest first adds in the balanced binary tree over ranks that elastic determinism needs (DESIGN D8), and with HDRM's
// rank map meets no congestion on BiGraph.

RankSchedule halving_doubling_allreduce(const Problem& problem, int rank);
RankSchedule halving_doubling_far_allreduce(const Problem& problem, int rank);
/// Farthest first; powers of two only.
RankSchedule halving_reduce_scatter(const Problem& problem, int rank);
/// Powers of two only.
RankSchedule doubling_all_gather(const Problem& problem, int rank);

/// Everything exchanged with partners at distance 1, 2, 4 ...: log2 p rounds of all the data, folded where needed. Adds
/// in the same tree as nearest-first halving-doubling.
RankSchedule recursive_doubling_allreduce(const Problem& problem, int rank);

}  // namespace eflops::coll
