#pragma once

#include <vector>

#include "coll/schedule.h"

namespace eflops::coll {

/// One node's place in a binary tree over positions 0 .. n-1; -1 where there is no parent.
struct TreePlace {
  int parent = -1;
  std::vector<int> children;  // at most two, lower position first
};

/// NCCL's binary tree (reference: nccl src/graph/trees.cc): the lowest set bit of a position gives its height, position
/// 0 is the root and has one child.
TreePlace first_tree(int ranks, int position);
/// The second tree, in which the first one's leaves are inner nodes: mirrored for an even number of ranks, shifted by
/// one for an odd one.
TreePlace second_tree(int ranks, int position);

/// Two trees, each with half of the data, reduce to their roots and send the result back down: 2·height rounds, plus
/// one for each segment but the first. A rank that is a leaf in one tree is an inner node of the other (Sanders, Speck,
/// Traeff 2009).
RankSchedule double_tree_allreduce(const Problem& problem, int rank);

}  // namespace eflops::coll
