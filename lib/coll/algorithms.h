#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/schedule.h"

namespace eflops::coll {

/// One way to do one collective. A new one is a file and one line in algorithms.cpp; verifier, executors, simulator and
/// benchmark take it from there.
struct Algorithm {
  std::string_view name;
  Collective collective;
  /// One line for people: how it goes and what it is good for.
  std::string_view summary;
  /// The list of one rank: a pure function, of time about the length of the list plus the ranks.
  RankSchedule (*build)(const Problem& problem, int rank);
  /// Why it cannot do this problem, in words that name a valid one; nothing if it can.
  std::optional<std::string> (*refuses)(const Problem& problem);
};

/// All algorithms, by collective.
std::span<const Algorithm> algorithms();
/// The names for one collective, in the registry's order.
std::vector<std::string_view> algorithm_names(Collective collective);
/// ConfigError with the valid names if there is none of this name.
const Algorithm& algorithm(Collective collective, std::string_view name);

/// ConfigError if the problem is out of range (ranks < 1, elements < 0, root outside) or the algorithm refuses it.
void check_problem(const Algorithm& algorithm, const Problem& problem);
/// The lists of all ranks, after check_problem.
std::vector<RankSchedule> build_all(const Algorithm& algorithm, const Problem& problem);

}  // namespace eflops::coll
