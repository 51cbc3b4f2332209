#include "coll/all_to_all.h"

#include <algorithm>

#include "coll/steps.h"

namespace eflops::coll {

RankSchedule pairwise_all_to_all(const Problem& problem, int rank) {
  Steps steps;
  const int n = problem.ranks;
  const auto block = [&](int index) { return block_of(problem.all(), n, index); };
  for (int step = 0; step < n; ++step) {
    const int to = (rank + step) % n;
    const int from = (rank - step + n) % n;
    // One's own block moves in the first exchange's round.
    const int round = step == 0 ? 0 : step - 1;
    steps.send(round, to, block(to), Buffer::Input);
    steps.receive(round, from, Kind::Copy, block(from));
  }
  return steps.finish(std::max(1, n - 1));
}

RankSchedule bruck_all_to_all(const Problem& problem, int rank) {
  Steps steps;
  const int n = problem.ranks;
  const auto block = [&](int index) { return block_of(problem.all(), n, index); };
  // Scratch block i is what must travel i ranks further.
  for (int i = 0; i < n; ++i) {
    steps.send(0, rank, block((rank + i) % n), Buffer::Input);
    steps.receive(0, rank, Kind::Copy, block(i), Buffer::Scratch);
  }
  int round = 1;
  for (int hop = 1; hop < n; hop *= 2, ++round) {
    for (int i = hop; i < n; i += 2 * hop) {
      const Range run{block(i).begin, block(std::min(i + hop, n) - 1).end};
      steps.send(round, (rank + hop) % n, run, Buffer::Scratch);
      steps.receive(round, (rank - hop + n) % n, Kind::Copy, run, Buffer::Scratch);
    }
  }
  for (int i = 0; i < n; ++i) {
    steps.send(round, rank, block(i), Buffer::Scratch);
    steps.receive(round, rank, Kind::Copy, block((rank - i + n) % n));
  }
  return steps.finish(round + 1, problem.elements);
}

}  // namespace eflops::coll
