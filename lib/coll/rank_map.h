#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coll/schedule.h"

namespace eflops::coll {

/// Which place (a process, an end point of a network) runs each rank of a schedule: a bijection of 0 .. size-1.
class RankMap {
 public:
  /// Rank r at place r.
  static RankMap in_order(int ranks);
  /// Consecutive ranks on different servers: rank r is slot r / servers of server r mod servers, where place = server ·
  /// slots + slot. ConfigError unless servers divides ranks.
  static RankMap round_robin(int ranks, int servers);
  /// A uniform permutation that depends on the seed alone.
  static RankMap random(int ranks, std::uint64_t seed);
  /// HDRM on a BiGraph of `switches` switches with `slots` end points each (EFLOPS, HPCA 2020; the rule is that of the
  /// open MultiTree simulator): every step of nearest-first halving-doubling crosses between the two parts on links of
  /// its own. Place = switch · slots + slot, upper switches first. ConfigError unless both are powers of two and
  /// switches >= 2.
  static RankMap hdrm(int slots, int switches);
  /// One place a line, in the order of ranks; blank lines and lines that begin with # do not count. DataError with file
  /// and line unless it is a bijection of 0 .. ranks-1.
  static RankMap from_file(const std::string& path, int ranks);
  /// InternalError unless `places` is a bijection.
  explicit RankMap(std::vector<int> places);

  int size() const { return static_cast<int>(places_.size()); }
  int place_of(int rank) const { return places_[static_cast<std::size_t>(rank)]; }
  int rank_at(int place) const { return ranks_[static_cast<std::size_t>(place)]; }
  const std::vector<int>& places() const { return places_; }
  bool is_identity() const;

 private:
  std::vector<int> places_;
  std::vector<int> ranks_;
};

/// The list of the process at `place`, with places as peers, of an algorithm built for ranks: `list` is that of rank
/// map.rank_at(place). For allreduce and broadcast (whose root is a rank); others have a block for each rank and are
/// refused with ConfigError unless the map is in order.
RankSchedule placed(const Problem& problem, RankSchedule list, const RankMap& map);

}  // namespace eflops::coll
