#include "coll/hierarchical.h"

#include "coll/algorithms.h"
#include "coll/halving_doubling.h"
#include "coll/ring.h"

namespace eflops::coll {
namespace {

Group every_nth(int first, int count, int step, int position) {
  Group group;
  group.position = position;
  for (int i = 0; i < count; ++i) group.ranks.push_back(first + i * step);
  return group;
}

}  // namespace

RankSchedule hierarchical_allreduce(const Problem& problem, int rank) {
  Steps steps;
  const int size = problem.group_size;
  const int slot = rank % size;
  const Group server = every_nth(rank - slot, size, 1, slot);
  const bool halving = is_power_of_two(size);
  Range mine = block_of(problem.all(), size, slot);
  int round = 0;
  if (halving) {
    mine = halving_reduce_scatter(steps, server, problem.all(), round, Distance::NearestFirst);
    round += halving_rounds(size);
  } else {
    round = ring_reduce_scatter(steps, server, problem.all(), round);
  }

  const int servers = problem.ranks / size;
  const Group peers = every_nth(slot, servers, size, rank / size);
  Problem between = problem;
  between.ranks = servers;
  between.elements = mine.size();
  const Algorithm& inner = algorithm(Collective::Allreduce, problem.inner);
  for (const Transfer& transfer : inner.build(between, peers.position).transfers) {
    const Range range{mine.begin + transfer.range.begin, mine.begin + transfer.range.end};
    const int peer = peers.at(transfer.peer);
    if (transfer.kind == Kind::Send) {
      steps.send(round + transfer.round, peer, range);
    } else {
      steps.receive(round + transfer.round, peer, transfer.kind, range);
    }
  }
  // Blocks may differ by an element, and with it the segments: all ranks count the rounds of the largest.
  between.elements = block_of(problem.all(), size, 0).size();
  round += inner.build(between, peers.position).rounds;

  if (halving) {
    doubling_all_gather(steps, server, problem.all(), round, Distance::NearestFirst);
    round += halving_rounds(size);
  } else {
    round = ring_all_gather(steps, server, problem.all(), round);
  }
  return steps.finish(round);
}

}  // namespace eflops::coll
