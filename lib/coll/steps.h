#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "coll/schedule.h"

namespace eflops::coll {

/// The ranks that take part in a phase, by position, and the position of the rank whose list is being built.
struct Group {
  std::vector<int> ranks;
  int position = 0;

  int size() const { return static_cast<int>(ranks.size()); }
  /// The rank at a position, which may lie outside [0, size) by less than size: it wraps around.
  int at(int position) const;
};

/// All ranks of a problem in order, seen from `rank`.
Group everyone(const Problem& problem, int rank);

/// Collects the transfers of one rank. Empty ranges leave no transfer, on either side.
class Steps {
 public:
  void send(int round, int peer, Range range, Buffer buffer = Buffer::Data);
  void receive(int round, int peer, Kind kind, Range range, Buffer buffer = Buffer::Data);
  /// What has been collected, in the order RankSchedule promises.
  RankSchedule finish(int rounds, std::int64_t scratch_elements = 0);

 private:
  std::vector<Transfer> transfers_;
};

/// Part of a collective among the positions of a group: adds its transfers from `round` on and returns the first free
/// round.
using Phase = int (*)(Steps& steps, const Group& group, Range range, int round);

/// The schedule of phases one behind the other, over all ranks and elements of a problem.
RankSchedule in_phases(const Problem& problem, int rank, std::initializer_list<Phase> phases);

/// Folds a group to the largest power of two below it (Thakur et al. 2005, 4.2): of the first 2·rest positions each
/// even one sends its data to the next and takes no further part. Uses one round, none if the size is a power of two.
struct Folded {
  std::optional<Group> core;  ///< the positions that go on; empty for one that was folded away
  int round = 0;              ///< the first free round
};
Folded fold(Steps& steps, const Group& group, Range range, int round);

/// Gives the result back to the positions that `fold` took out; returns the first free round.
int unfold(Steps& steps, const Group& group, Range range, int round);

/// The largest power of two <= n; n >= 1.
int power_of_two_below(int n);
bool is_power_of_two(int n);

}  // namespace eflops::coll
