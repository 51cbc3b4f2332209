#include "coll/ring.h"

#include <algorithm>

namespace eflops::coll {
namespace {

/// Block `index` (wrapping) of the group's range.
Range ring_block(const Group& group, Range range, int index) {
  const int n = group.size();
  return block_of(range, n, ((index % n) + n) % n);
}

/// Segment `phase` of `phases` of every block.
int reduce_scatter_segments(Steps& steps, const Group& group, Range range, int round, std::int64_t phases,
                            std::int64_t phase) {
  const int position = group.position;
  const auto segment = [&](int index) { return block_of(ring_block(group, range, index), phases, phase); };
  for (int step = 0; step + 1 < group.size(); ++step, ++round) {
    steps.send(round, group.at(position + 1), segment(position - 1 - step));
    steps.receive(round, group.at(position - 1), Kind::Reduce, segment(position - 2 - step));
  }
  return round;
}

}  // namespace

int ring_reduce_scatter(Steps& steps, const Group& group, Range range, int round) {
  return reduce_scatter_segments(steps, group, range, round, 1, 0);
}

int ring_all_gather(Steps& steps, const Group& group, Range range, int round) {
  const int position = group.position;
  for (int step = 0; step + 1 < group.size(); ++step, ++round) {
    steps.send(round, group.at(position + 1), ring_block(group, range, position - step));
    steps.receive(round, group.at(position - 1), Kind::Copy, ring_block(group, range, position - 1 - step));
  }
  return round;
}

RankSchedule ring_allreduce(const Problem& problem, int rank) {
  return in_phases(problem, rank, {ring_reduce_scatter, ring_all_gather});
}

RankSchedule segmented_ring_allreduce(const Problem& problem, int rank) {
  Steps steps;
  const Group group = everyone(problem, rank);
  const std::int64_t largest_block = block_of(problem.all(), problem.ranks, 0).size();
  const std::int64_t segment =
      problem.segment_elements > 0 ? problem.segment_elements : std::max<std::int64_t>(largest_block, 1);
  const std::int64_t phases = std::max<std::int64_t>(1, (largest_block + segment - 1) / segment);
  int round = 0;
  for (std::int64_t phase = 0; phase < phases; ++phase) {
    round = reduce_scatter_segments(steps, group, problem.all(), round, phases, phase);
  }
  round = ring_all_gather(steps, group, problem.all(), round);
  return steps.finish(round);
}

RankSchedule ring_reduce_scatter(const Problem& problem, int rank) {
  return in_phases(problem, rank, {ring_reduce_scatter});
}

RankSchedule ring_all_gather(const Problem& problem, int rank) { return in_phases(problem, rank, {ring_all_gather}); }

}  // namespace eflops::coll
