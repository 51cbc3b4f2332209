#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace eflops::coll {

/// What the ranks want to have done together (MPI's words).
enum class Collective { Allreduce, ReduceScatter, AllGather, Broadcast, AllToAll };

inline constexpr Collective kCollectives[] = {Collective::Allreduce, Collective::ReduceScatter, Collective::AllGather,
                                              Collective::Broadcast, Collective::AllToAll};

/// "allreduce", "reduce-scatter", "all-gather", "broadcast", "alltoall".
std::string_view collective_name(Collective collective);
/// The collective of that name, where '-' and '_' are the same; ConfigError with the names if there is none.
Collective collective_named(std::string_view name);

/// Elements [begin, end) of a buffer.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Part `index` of `parts` of a range, in order and without gaps; sizes differ by at most one element, larger parts
/// first. Exact for any 64-bit range.
Range block_of(Range range, std::int64_t parts, std::int64_t index);

/// Where a transfer reads or writes. `Data` holds a rank's contribution at the start (all collectives but all-to-all,
/// which reads `Input`) and the result at the end.
enum class Buffer : std::uint8_t { Data, Input, Scratch };

/// One end of a transfer, as the rank that owns the list sees it.
enum class Kind : std::uint8_t {
  Send,    ///< the peer gets these elements
  Copy,    ///< what the peer sends replaces these elements
  Reduce,  ///< what the peer sends is reduced into these elements
};

/// A rank's end of one transfer. The k-th Send from a to b in a round meets the k-th receive of b from a in the same
/// round, and both have the same size. All transfers of one round from a to b count as one message. A peer that is the
/// rank itself means a move inside its memory.
struct Transfer {
  std::int32_t round = 0;
  std::int32_t peer = 0;
  Kind kind = Kind::Send;
  Buffer buffer = Buffer::Data;
  Range range;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// What one rank does (DESIGN D2), by ascending round and in each round sends before receives: a send reads what stood
/// there before the round. Transfers behave as if done in this order; those that touch different elements may overlap,
/// and each may be cut into segments that advance by themselves. The order of the reductions is part of the schedule.
struct RankSchedule {
  std::vector<Transfer> transfers;
  /// Rounds of the whole schedule: the same on all ranks, also where a rank is idle in the last ones.
  std::int32_t rounds = 0;
  std::int64_t scratch_elements = 0;
};

/// What is to be done, by how many ranks, on how much.
struct Problem {
  Collective collective = Collective::Allreduce;
  int ranks = 1;
  /// Elements of the whole buffer `Data` of a rank. Reduce-scatter and all-gather give block_of(all, ranks, r) to rank
  /// r; all-to-all needs a multiple of `ranks`.
  std::int64_t elements = 0;
  /// Where a broadcast comes from.
  int root = 0;
  /// Elements of a segment in the algorithms that have segments; 0: not cut.
  std::int64_t segment_elements = 0;
  /// Ranks of one server in `hierarchical`.
  int group_size = 1;
  /// The allreduce algorithm between servers in `hierarchical`.
  std::string_view inner = "halving-doubling";

  Range all() const { return {0, elements}; }
};

}  // namespace eflops::coll
