#include "coll/halving_doubling.h"

#include <bit>

#include "base/error.h"

namespace eflops::coll {
namespace {

/// One exchange of the way down: the partner's position, the half that this position keeps and the one it gives away.
struct Halving {
  int partner = 0;
  Range kept;
  Range given;
};

/// All exchanges in order. Halves are unions of whole blocks, so that every position ends with one block.
std::vector<Halving> halvings(const Group& group, Range range, Distance distance) {
  EFLOPS_CHECK(is_power_of_two(group.size()), "halving needs a power of two, not {}", group.size());
  const int rounds = halving_rounds(group.size());
  std::vector<Halving> path;
  int first_block = 0;
  int blocks = group.size();
  for (int round = 0; round < rounds; ++round) {
    const int bit = 1 << (distance == Distance::NearestFirst ? round : rounds - 1 - round);
    blocks /= 2;
    const auto half = [&](int which) {
      const int first = first_block + which * blocks;
      return Range{block_of(range, group.size(), first).begin, block_of(range, group.size(), first + blocks - 1).end};
    };
    const int mine = (group.position & bit) != 0 ? 1 : 0;
    path.push_back({group.position ^ bit, half(mine), half(1 - mine)});
    first_block += mine * blocks;
  }
  return path;
}

RankSchedule rabenseifner(const Problem& problem, int rank, Distance distance) {
  Steps steps;
  const Group group = everyone(problem, rank);
  const auto [core, round] = fold(steps, group, problem.all(), 0);
  const int rounds = halving_rounds(power_of_two_below(problem.ranks));
  if (core) {
    halving_reduce_scatter(steps, *core, problem.all(), round, distance);
    doubling_all_gather(steps, *core, problem.all(), round + rounds, distance);
  }
  return steps.finish(unfold(steps, group, problem.all(), round + 2 * rounds));
}

}  // namespace

int halving_rounds(int group_size) { return static_cast<int>(std::bit_width(static_cast<unsigned>(group_size))) - 1; }

Range halving_reduce_scatter(Steps& steps, const Group& group, Range range, int round, Distance distance) {
  Range kept = range;
  for (const Halving& halving : halvings(group, range, distance)) {
    steps.send(round, group.at(halving.partner), halving.given);
    steps.receive(round, group.at(halving.partner), Kind::Reduce, halving.kept);
    kept = halving.kept;
    ++round;
  }
  return kept;
}

void doubling_all_gather(Steps& steps, const Group& group, Range range, int round, Distance distance) {
  const std::vector<Halving> path = halvings(group, range, distance);
  for (auto halving = path.rbegin(); halving != path.rend(); ++halving, ++round) {
    steps.send(round, group.at(halving->partner), halving->kept);
    steps.receive(round, group.at(halving->partner), Kind::Copy, halving->given);
  }
}

RankSchedule halving_doubling_allreduce(const Problem& problem, int rank) {
  return rabenseifner(problem, rank, Distance::NearestFirst);
}

RankSchedule halving_doubling_far_allreduce(const Problem& problem, int rank) {
  return rabenseifner(problem, rank, Distance::FarthestFirst);
}

RankSchedule halving_reduce_scatter(const Problem& problem, int rank) {
  Steps steps;
  halving_reduce_scatter(steps, everyone(problem, rank), problem.all(), 0, Distance::FarthestFirst);
  return steps.finish(halving_rounds(problem.ranks));
}

RankSchedule doubling_all_gather(const Problem& problem, int rank) {
  Steps steps;
  doubling_all_gather(steps, everyone(problem, rank), problem.all(), 0, Distance::FarthestFirst);
  return steps.finish(halving_rounds(problem.ranks));
}

RankSchedule recursive_doubling_allreduce(const Problem& problem, int rank) {
  Steps steps;
  const Group group = everyone(problem, rank);
  const auto [core, first] = fold(steps, group, problem.all(), 0);
  const int rounds = halving_rounds(power_of_two_below(problem.ranks));
  if (core) {
    for (int step = 0; step < rounds; ++step) {
      const int partner = core->at(core->position ^ (1 << step));
      steps.send(first + step, partner, problem.all());
      steps.receive(first + step, partner, Kind::Reduce, problem.all());
    }
  }
  return steps.finish(unfold(steps, group, problem.all(), first + rounds));
}

}  // namespace eflops::coll
