#include "programs/bench_tune.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/stats.h"
#include "bench/tuning.h"
#include "machine/machine.h"
#include "programs/bench_collective.h"
#include "programs/bench_rows.h"

namespace eflops::programs {
namespace {

using bench::TuningCase;
using bench::TuningSample;
using bench::TuningTable;

coll::Collective collective_of(const std::string& name) {
  try {
    return coll::collective_named(name);
  } catch (const ConfigError& error) {
    throw ConfigError("collectives: {}", error.what());
  }
}

/// Medians of the rows that ran.
std::vector<TuningSample> samples_of(const std::vector<bench::TableRow>& rows) {
  std::vector<TuningSample> samples;
  for (const bench::TableRow& row : rows) {
    if (row.result.seconds.empty()) continue;
    samples.push_back({row.bytes, row.algorithm, stats::median(row.result.seconds)});
  }
  return samples;
}

}  // namespace

TuneOptions::TuneOptions() {
  algorithm = {"all"};
  place = PlaceChoice::Out;
  end = "16M";
}

void TuneOptions::visit_fields(OptionVisitor& v) {
  v("collectives", collectives, "which to tune");
  v("tolerance", tolerance, "an algorithm that is slower by no more than this is as good", {.min = 0, .max = 10});
  v("verify", verify, "measure anew and compare with the table instead of writing it");
  BenchOptions::visit_fields(v);
}

void run_tune(const TuneOptions& options, const Invocation& call) {
  if (options.table.empty()) throw ConfigError("table: a file to write is expected, as in --table tuning.yaml");
  const bool exists = std::filesystem::exists(options.table);
  if (options.verify && !exists) throw ConfigError("table: {} does not exist", options.table);
  for (const std::string& name : options.collectives) plan_rows(collective_of(name), options, {2, true});
  TuningTable table = exists ? TuningTable::read(options.table) : TuningTable();
  run_ranks(options, [&](comm::MpiSession& session) {
    std::vector<std::string> missed;
    for (const std::string& name : options.collectives) {
      BenchOptions measured = options;
      measured.table = "";
      TuningCase one{.collective = collective_of(name), .transport = {}, .ranks = session.size(), .servers = 1};
      const std::vector<bench::TableRow> rows =
          measure_collective(session, one.collective, measured, call, [&one](const RankSet& ranks) {
            one.transport = ranks.transport;
            one.servers = ranks.servers;
          });
      const std::vector<TuningSample> samples = samples_of(rows);
      if (session.rank() != 0) continue;
      if (samples.empty()) throw CheckFailed("tune: no row of {} ran", name);
      if (options.verify) {
        for (const std::string& miss : table.misses(one, samples, options.tolerance))
          missed.push_back(name + " " + miss);
      } else {
        table.set(one, samples, options.tolerance);
      }
    }
    if (session.rank() != 0) return;
    for (const std::string& miss : missed) fmt::print("# {}\n", miss);
    std::fflush(stdout);
    if (!missed.empty())
      throw CheckFailed("tune: at {} sizes the table is not within {:g} % of the fastest, the first {}", missed.size(),
                        options.tolerance * 100, missed.front());
    if (options.verify) {
      fmt::print("# the table is within {:g} % of the fastest at every size\n", options.tolerance * 100);
      return;
    }
    table.write(options.table, fmt::format("Which algorithm is the fastest up to which size of bytes, for `--table`.\n"
                                           "Measured {} on {} by: {}",
                                           utc_timestamp(), machine::host_name(), call.command));
    fmt::print("# written to {}\n", options.table);
  });
}

}  // namespace eflops::programs
