#include "coll/direct.h"

namespace eflops::coll {

int direct_reduce_scatter(Steps& steps, const Group& group, Range range, int round) {
  const int n = group.size();
  if (n == 1) return round;
  for (int offset = 1; offset < n; ++offset) {
    steps.send(round, group.at(group.position + offset), block_of(range, n, (group.position + offset) % n));
    steps.receive(round, group.at(group.position + offset), Kind::Reduce, block_of(range, n, group.position));
  }
  return round + 1;
}

int direct_all_gather(Steps& steps, const Group& group, Range range, int round) {
  const int n = group.size();
  if (n == 1) return round;
  for (int offset = 1; offset < n; ++offset) {
    steps.send(round, group.at(group.position + offset), block_of(range, n, group.position));
    steps.receive(round, group.at(group.position + offset), Kind::Copy,
                  block_of(range, n, (group.position + offset) % n));
  }
  return round + 1;
}

RankSchedule direct_allreduce(const Problem& problem, int rank) {
  return in_phases(problem, rank, {direct_reduce_scatter, direct_all_gather});
}

RankSchedule direct_reduce_scatter(const Problem& problem, int rank) {
  return in_phases(problem, rank, {direct_reduce_scatter});
}

RankSchedule direct_all_gather(const Problem& problem, int rank) {
  return in_phases(problem, rank, {direct_all_gather});
}

}  // namespace eflops::coll
