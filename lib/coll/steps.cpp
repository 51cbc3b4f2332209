#include "coll/steps.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.h"

namespace eflops::coll {

int Group::at(int wanted) const {
  const int n = size();
  return ranks[static_cast<std::size_t>((wanted + n) % n)];
}

Group everyone(const Problem& problem, int rank) {
  Group group{std::vector<int>(static_cast<std::size_t>(problem.ranks)), rank};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

void Steps::send(int round, int peer, Range range, Buffer buffer) {
  if (!range.empty()) transfers_.push_back({round, peer, Kind::Send, buffer, range});
}

void Steps::receive(int round, int peer, Kind kind, Range range, Buffer buffer) {
  EFLOPS_CHECK(kind != Kind::Send, "a receive copies or reduces");
  if (!range.empty()) transfers_.push_back({round, peer, kind, buffer, range});
}

RankSchedule Steps::finish(int rounds, std::int64_t scratch_elements) {
  std::stable_sort(transfers_.begin(), transfers_.end(), [](const Transfer& a, const Transfer& b) {
    if (a.round != b.round) return a.round < b.round;
    return a.kind == Kind::Send && b.kind != Kind::Send;
  });
  return {std::move(transfers_), rounds, scratch_elements};
}

RankSchedule in_phases(const Problem& problem, int rank, std::initializer_list<Phase> phases) {
  Steps steps;
  const Group group = everyone(problem, rank);
  int round = 0;
  for (const Phase phase : phases) round = phase(steps, group, problem.all(), round);
  return steps.finish(round);
}

int power_of_two_below(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }
bool is_power_of_two(int n) { return n > 0 && std::has_single_bit(static_cast<unsigned>(n)); }

Folded fold(Steps& steps, const Group& group, Range range, int round) {
  const int core_size = power_of_two_below(group.size());
  const int rest = group.size() - core_size;
  if (rest == 0) return {group, round};
  Group core;
  core.ranks.reserve(static_cast<std::size_t>(core_size));
  for (int i = 0; i < rest; ++i) core.ranks.push_back(group.at(2 * i + 1));
  for (int position = 2 * rest; position < group.size(); ++position) core.ranks.push_back(group.at(position));
  const int position = group.position;
  if (position >= 2 * rest) {
    core.position = position - rest;
  } else if (position % 2 == 1) {
    steps.receive(round, group.at(position - 1), Kind::Reduce, range);
    core.position = position / 2;
  } else {
    steps.send(round, group.at(position + 1), range);
    return {std::nullopt, round + 1};
  }
  return {core, round + 1};
}

int unfold(Steps& steps, const Group& group, Range range, int round) {
  const int rest = group.size() - power_of_two_below(group.size());
  if (rest == 0) return round;
  const int position = group.position;
  if (position < 2 * rest) {
    if (position % 2 == 1) {
      steps.send(round, group.at(position - 1), range);
    } else {
      steps.receive(round, group.at(position + 1), Kind::Copy, range);
    }
  }
  return round + 1;
}

}  // namespace eflops::coll
