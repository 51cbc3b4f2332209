#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/table.h"
#include "bench/tuning.h"
#include "coll/rank_map.h"
#include "programs/bench_options.h"

namespace eflops::programs {

/// The algorithm of allreduce that is the MPI library's own.
inline constexpr std::string_view kMpi = "mpi";

/// One row to measure.
struct PlannedRow {
  std::string algorithm;  ///< a name of coll::algorithms, kMpi or comm::kOnePass; never auto
  bench::RowRequest request;
  std::string note = {};  ///< how `auto` came to it, where that is not plain
};

/// The ranks that take part.
struct RankSet {
  int count = 1;
  bool see_memory = false;  ///< each other's, so that allreduce can be done in one pass
  int servers = 1;          ///< that they are on
  std::string transport = {};
  const bench::TuningTable* table = nullptr;  ///< what `auto` follows; null: the built-in rule

  bench::TuningCase tuning_case(coll::Collective collective) const {
    return {.collective = collective, .transport = transport, .ranks = count, .servers = servers};
  }
};

/// The rows of a run in the order of the table: sizes (in their order, or drawn), then algorithms, then places. Sizes
/// are rounded down to whole elements (all-to-all: to whole blocks of each rank). ConfigError for options that do not
/// fit each other.
std::vector<PlannedRow> plan_rows(coll::Collective collective, const BenchOptions& options, const RankSet& ranks);

/// The rank map that the options name, for `ranks` ranks.
coll::RankMap rank_map(const BenchOptions& options, int ranks);

/// The algorithm that `auto` stands for: one pass where ranks see each other's memory; else few steps for small data,
/// few bytes for large, everyone to everyone where all ranks are on one server. A built-in rule, until a measured table
/// replaces it.
std::string automatic(coll::Collective collective, const RankSet& ranks, std::int64_t bytes, bool one_server);

}  // namespace eflops::programs
