#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "coll/schedule.h"

namespace eflops::coll {

/// What the symbolic run of a schedule found.
struct Verdict {
  /// The first fault in words, e.g. "round 3: rank 2 adds rank 0's element 7 twice"; empty if the schedule is right.
  std::string fault;
  /// For each element of the result: a fingerprint of the expression tree that adds it up, blind to left and right.
  /// Equal fingerprints mean equal bits in any arithmetic that commutes.
  std::vector<std::uint64_t> trees;

  bool right() const { return fault.empty(); }
};

/// Runs all ranks' lists on symbols instead of numbers and proves: lists are in order, ranges lie inside their buffers,
/// every send meets one receive of its size in its round, only what is there is sent, every contribution is added
/// exactly once and to its own element, nothing is sent in vain (a copy of what was there already), all ranks end with
/// what the collective promises, and all ranks add in the same tree. For up to 256 ranks; time and memory grow with
/// ranks · elements.
Verdict verify(const Problem& problem, std::span<const RankSchedule> lists);

/// The fingerprint of the balanced binary tree over ranks 0 .. 2^k - 1 (i and i xor 1 first) for one element: the order
/// elastic determinism asks for (DESIGN D8).
std::uint64_t balanced_tree(int ranks);

}  // namespace eflops::coll
