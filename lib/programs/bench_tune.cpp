#include "programs/bench_tune.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/stats.h"
#include "bench/tuning.h"
#include "coll/algorithms.h"
#include "machine/machine.h"
#include "programs/bench_collective.h"
#include "programs/bench_rows.h"

namespace eflops::programs {
namespace {

using bench::TuningCase;
using bench::TuningSample;
using bench::TuningTable;

coll::Collective collective_named(const std::string& name) {
  std::string known;
  for (const coll::Algorithm& algorithm : coll::algorithms()) {
    const std::string found(coll::collective_name(algorithm.collective));
    if (found == name) return algorithm.collective;
    if (known.find(found) == std::string::npos) known += " " + found;
  }
  throw ConfigError("collectives: there is no '{}'; there are{}", name, known);
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

/// Sizes at which the table's choice is slower than it may be, in words.
std::vector<std::string> misses(const TuningTable& table, const TuningCase& one,
                                const std::vector<TuningSample>& samples, double tolerance) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0 && samples[i].bytes == samples[i - 1].bytes) continue;
    const std::string chosen = table.choose(one, samples[i].bytes).algorithm;
    const TuningSample* best = nullptr;
    const TuningSample* ours = nullptr;
    for (const TuningSample& sample : samples) {
      if (sample.bytes != samples[i].bytes) continue;
      if (best == nullptr || sample.seconds < best->seconds) best = &sample;
      if (sample.algorithm == chosen) ours = &sample;
    }
    if (ours == nullptr) {
      found.push_back(fmt::format("{} B: the table's '{}' did not run", samples[i].bytes, chosen));
    } else if (ours->seconds > (1 + tolerance) * best->seconds) {
      found.push_back(fmt::format("{} B: {} takes {:.2f} times as long as {}", samples[i].bytes, chosen,
                                  ours->seconds / best->seconds, best->algorithm));
    }
  }
  return found;
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
  for (const std::string& name : options.collectives) plan_rows(collective_named(name), options, {2, true});
  TuningTable table = exists ? TuningTable::read(options.table) : TuningTable();
  run_ranks(options, [&](comm::MpiSession& session) {
    std::vector<std::string> missed;
    for (const std::string& name : options.collectives) {
      BenchOptions measured = options;
      measured.table = "";
      TuningCase one{.collective = collective_named(name), .transport = {}, .ranks = session.size(), .servers = 1};
      const std::vector<bench::TableRow> rows =
          measure_collective(session, one.collective, measured, call, [&one](const RankSet& ranks) {
            one.transport = ranks.transport;
            one.servers = ranks.servers;
          });
      const std::vector<TuningSample> samples = samples_of(rows);
      if (session.rank() != 0) continue;
      if (samples.empty()) throw CheckFailed("tune: no row of {} ran", name);
      if (options.verify) {
        for (const std::string& miss : misses(table, one, samples, options.tolerance))
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
