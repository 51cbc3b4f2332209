#include "coll/broadcast.h"

#include <algorithm>
#include <bit>

#include "coll/steps.h"

namespace eflops::coll {
namespace {

/// Position 0 is the root. Before the step of distance d the positions that are multiples of 2d hold their part; each
/// passes the upper half of its subtree [position + d, position + 2d) on.
int down_the_tree(Steps& steps, const Group& group, const auto& part_of_subtree) {
  const int n = group.size();
  const int rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)));
  for (int round = 0; round < rounds; ++round) {
    const int distance = 1 << (rounds - 1 - round);
    const int inside = group.position % (2 * distance);
    if (inside == 0 && group.position + distance < n) {
      steps.send(round, group.at(group.position + distance), part_of_subtree(group.position + distance, distance));
    } else if (inside == distance) {
      steps.receive(round, group.at(group.position - distance), Kind::Copy, part_of_subtree(group.position, distance));
    }
  }
  return rounds;
}

/// Everyone, with the root at position 0.
Group from_root(const Problem& problem, int rank) {
  Group group = everyone(problem, rank);
  for (int& member : group.ranks) member = (member + problem.root) % problem.ranks;
  group.position = (rank - problem.root + problem.ranks) % problem.ranks;
  return group;
}

}  // namespace

RankSchedule binomial_broadcast(const Problem& problem, int rank) {
  Steps steps;
  const int rounds = down_the_tree(steps, from_root(problem, rank), [&](int, int) { return problem.all(); });
  return steps.finish(rounds);
}

RankSchedule scatter_ring_broadcast(const Problem& problem, int rank) {
  Steps steps;
  const Group group = from_root(problem, rank);
  const int n = problem.ranks;
  const int round = down_the_tree(steps, group, [&](int first, int count) {
    const int last = std::min(first + count, n) - 1;
    return Range{block_of(problem.all(), n, first).begin, block_of(problem.all(), n, last).end};
  });
  // A ring all-gather, without the blocks that the scatter has already left at a position: its whole subtree's.
  const auto holds = [n](int position, int block) {
    const int subtree = position == 0 ? n : position & -position;
    return block >= position && block < position + subtree;
  };
  const int next = (group.position + 1) % n;
  for (int step = 0; step + 1 < n; ++step) {
    const int sent = (group.position - step + n) % n;
    const int received = (group.position - 1 - step + 2 * n) % n;
    if (!holds(next, sent)) steps.send(round + step, group.at(next), block_of(problem.all(), n, sent));
    if (!holds(group.position, received)) {
      steps.receive(round + step, group.at(group.position - 1), Kind::Copy, block_of(problem.all(), n, received));
    }
  }
  return steps.finish(round + n - 1);
}

}  // namespace eflops::coll
