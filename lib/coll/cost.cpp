#include "coll/cost.h"

#include <algorithm>

#include "base/error.h"

namespace eflops::coll {
namespace {

/// What one rank moves in one round, in elements.
struct RoundLoad {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t reduced = 0;
  bool at_all() const { return sent > 0 || received > 0; }
};

}  // namespace

double cost_s(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes, const CostModel& model) {
  check_problem(algorithm, problem);
  std::vector<double> slowest;
  std::vector<RoundLoad> loads;
  for (int rank = 0; rank < problem.ranks; ++rank) {
    const RankSchedule list = algorithm.build(problem, rank);
    loads.assign(static_cast<std::size_t>(list.rounds), {});
    slowest.resize(loads.size(), 0.0);
    for (const Transfer& transfer : list.transfers) {
      if (transfer.peer == rank) continue;
      RoundLoad& load = loads[static_cast<std::size_t>(transfer.round)];
      (transfer.kind == Kind::Send ? load.sent : load.received) += transfer.range.size();
      if (transfer.kind == Kind::Reduce) load.reduced += transfer.range.size();
    }
    for (std::size_t round = 0; round < loads.size(); ++round) {
      const RoundLoad& load = loads[round];
      if (!load.at_all()) continue;
      const auto bytes = [element_bytes](std::int64_t elements) {
        return static_cast<double>(elements * element_bytes);
      };
      const double time = model.alpha_s + model.beta_s_per_byte * bytes(std::max(load.sent, load.received)) +
                          model.gamma_s_per_byte * bytes(load.reduced);
      slowest[round] = std::max(slowest[round], time);
    }
  }
  double total = 0;
  for (const double time : slowest) total += time;
  return total;
}

std::vector<GroupBytes> bytes_by_group(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes,
                                       const RankMap& map, const std::vector<int>& group_of_place) {
  check_problem(algorithm, problem);
  EFLOPS_CHECK(group_of_place.size() == static_cast<std::size_t>(problem.ranks) && map.size() == problem.ranks,
               "{} groups and a map of {} for {} ranks", group_of_place.size(), map.size(), problem.ranks);
  const int groups = *std::max_element(group_of_place.begin(), group_of_place.end()) + 1;
  std::vector<GroupBytes> traffic(static_cast<std::size_t>(groups));
  const auto group_of_rank = [&](int rank) {
    return static_cast<std::size_t>(group_of_place[static_cast<std::size_t>(map.place_of(rank))]);
  };
  for (int rank = 0; rank < problem.ranks; ++rank) {
    for (const Transfer& transfer : algorithm.build(problem, rank).transfers) {
      const std::size_t from = group_of_rank(rank);
      const std::size_t to = group_of_rank(transfer.peer);
      if (transfer.kind != Kind::Send || from == to) continue;
      traffic[from].out += transfer.range.size() * element_bytes;
      traffic[to].in += transfer.range.size() * element_bytes;
    }
  }
  return traffic;
}

}  // namespace eflops::coll
