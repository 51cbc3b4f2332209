#include "programs/bench_rows.h"

#include <algorithm>

#include "base/error.h"
#include "coll/algorithms.h"
#include "comm/one_pass.h"

namespace eflops::programs {

using coll::Collective;

namespace {

constexpr std::int64_t kSmallBytes = 4 << 10;

/// An algorithm, and how `auto` came to it where that is not plain.
using Named = bench::TuningTable::Choice;

std::vector<Named> names_for(Collective collective, const BenchOptions& options, const RankSet& ranks,
                             std::int64_t bytes) {
  std::vector<Named> names;
  for (const std::string& name : options.algorithm) {
    if (name == "auto") {
      Named chosen;
      if (ranks.table != nullptr) chosen = ranks.table->choose(ranks.tuning_case(collective), bytes);
      if (chosen.algorithm.empty()) chosen.algorithm = automatic(collective, ranks, bytes, options.servers == 1);
      names.push_back(chosen);
    } else if (name == "all") {
      for (const std::string_view known : coll::algorithm_names(collective)) names.push_back({std::string(known), ""});
      if (collective == Collective::Allreduce && ranks.see_memory) names.push_back({std::string(comm::kOnePass), ""});
    } else if ((name == kMpi || name == comm::kOnePass) && collective == Collective::Allreduce) {
      names.push_back({name, ""});
    } else {
      names.push_back({std::string(coll::algorithm(collective, name).name), ""});
    }
  }
  return names;
}

std::vector<std::int64_t> sizes_in_order(const BenchOptions& options) {
  std::vector<std::int64_t> sizes = bench::sizes_of({.begin = bench::parse_bytes(options.begin, "begin"),
                                                     .end = bench::parse_bytes(options.end, "end"),
                                                     .factor = options.factor,
                                                     .step = bench::parse_bytes(options.step, "step")});
  if (options.order == OrderChoice::Random) {
    const coll::RankMap drawn =
        coll::RankMap::random(static_cast<int>(sizes.size()), static_cast<std::uint64_t>(options.seed));
    std::vector<std::int64_t> shuffled;
    for (const int place : drawn.places()) shuffled.push_back(sizes[static_cast<std::size_t>(place)]);
    sizes = shuffled;
  }
  return sizes;
}

bench::RowRequest request_of(const BenchOptions& options) {
  bench::RowRequest request;
  request.execution = {.element = element_named(options.element),
                       .reduction = reduction_named(options.reduction),
                       .segment_bytes = bench::parse_bytes(options.segment, "segment")};
  request.cadence = options.cadence;
  request.cache = options.cache;
  request.iterations = {.warmup = options.warmup,
                        .least = 20,
                        .most = options.most_iterations,
                        .precision = options.precision,
                        .seconds = options.row_seconds};
  if (options.iterations > 0) {
    request.iterations.least = request.iterations.most = options.iterations;
    request.iterations.precision = 0;
    request.iterations.seconds = 1e9;
  }
  request.check = options.check;
  request.timeout_s = options.timeout;
  return request;
}

}  // namespace

std::string automatic(Collective collective, const RankSet& set, std::int64_t bytes, bool one_server) {
  const int ranks = set.count;
  const bool small = bytes <= kSmallBytes;
  switch (collective) {
    case Collective::Allreduce:
      if (set.see_memory) return std::string(comm::kOnePass);
      if (small) return "recursive-doubling";
      return one_server && ranks <= 8 ? "direct" : "halving-doubling";
    case Collective::ReduceScatter:
    case Collective::AllGather:
      return one_server && ranks <= 8 ? "direct" : "ring";
    case Collective::Broadcast:
      return small || ranks == 2 ? "binomial" : "scatter-ring";
    case Collective::AllToAll:
      return small && ranks > 4 ? "bruck" : "pairwise";
  }
  throw InternalError("collective {} has no automatic choice", static_cast<int>(collective));
}

std::vector<PlannedRow> plan_rows(Collective collective, const BenchOptions& options, const RankSet& set) {
  const int ranks = set.count;
  const bench::RowRequest common = request_of(options);
  const std::int64_t element_bytes = kernels::bytes_of(common.execution.element);
  if (options.cadence == bench::Cadence::Streaming && options.place == PlaceChoice::In) {
    throw ConfigError("cadence streaming needs place out: in place every run would change the next one's input");
  }
  std::vector<bench::Place> places;
  if (options.place != PlaceChoice::In) places.push_back(bench::Place::Out);
  if (options.place != PlaceChoice::Out && options.cadence == bench::Cadence::Isolated) {
    places.push_back(bench::Place::In);
  }
  std::vector<PlannedRow> rows;
  for (const std::int64_t size : sizes_in_order(options)) {
    std::int64_t elements = size / element_bytes;
    if (collective == Collective::AllToAll) elements -= elements % ranks;
    for (const Named& name : names_for(collective, options, set, size)) {
      for (const bench::Place place : places) {
        PlannedRow row{name.algorithm, common, name.note};
        row.request.place = place;
        row.request.problem = {.collective = collective,
                               .ranks = ranks,
                               .elements = elements,
                               .root = static_cast<int>(options.root),
                               .segment_elements = common.execution.segment_bytes / element_bytes,
                               .group_size = std::max(1, ranks / static_cast<int>(options.servers)),
                               .inner = options.inner};
        rows.push_back(row);
      }
    }
  }
  return rows;
}

coll::RankMap rank_map(const BenchOptions& options, int ranks) {
  const int servers = static_cast<int>(options.servers);
  switch (options.map) {
    case MapChoice::InOrder:
      return coll::RankMap::in_order(ranks);
    case MapChoice::RoundRobin:
      return coll::RankMap::round_robin(ranks, servers);
    case MapChoice::Random:
      return coll::RankMap::random(ranks, static_cast<std::uint64_t>(options.seed));
    case MapChoice::Hdrm: {
      if (ranks % servers != 0) throw ConfigError("map hdrm: {} servers do not divide {} ranks", servers, ranks);
      return coll::RankMap::hdrm(ranks / servers, servers);
    }
    case MapChoice::File:
      return coll::RankMap::from_file(options.map_file, ranks);
  }
  throw InternalError("map {}", static_cast<int>(options.map));
}

}  // namespace eflops::programs
