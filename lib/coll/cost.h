#pragma once

#include <cstdint>
#include <vector>

#include "coll/algorithms.h"
#include "coll/rank_map.h"

namespace eflops::coll {

/// The textbook model of a network without contention.
struct CostModel {
  double alpha_s = 0;           ///< seconds of a round that sends at all
  double beta_s_per_byte = 0;   ///< of the busier direction of a rank's port
  double gamma_s_per_byte = 0;  ///< of what a rank reduces
};

/// The time of a schedule in that model: over all rounds the slowest rank's alpha + beta·max(bytes out, bytes in) +
/// gamma·bytes reduced. Equals the formulas of the literature where blocks are equal (Thakur et al. 2005; Chan et al.
/// 2007). Builds one rank's list at a time.
double cost_s(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes, const CostModel& model);

/// Bytes that leave a group of ranks for others, and that enter it, over a whole schedule.
struct GroupBytes {
  std::int64_t out = 0;
  std::int64_t in = 0;
  friend bool operator==(const GroupBytes&, const GroupBytes&) = default;
};

/// Traffic through each group's border, where group_of_place[p] (0 and up) is the server or network port of place p;
/// what stays inside a group does not count. Builds one rank's list at a time.
std::vector<GroupBytes> bytes_by_group(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes,
                                       const RankMap& map, const std::vector<int>& group_of_place);

}  // namespace eflops::coll
