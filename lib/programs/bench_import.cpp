#include "programs/bench_import.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "bench/foreign_log.h"
#include "records/record.h"

namespace eflops::programs {
namespace {

using bench::ForeignLog;
using bench::ForeignRow;
using bench::ForeignValue;
using records::Outcome;
using records::Record;
using records::Status;

/// What the options say where the log does not.
ForeignRow completed(ForeignRow row, const ImportOptions& options) {
  if (row.collective.empty()) row.collective = options.collective;
  if (row.ranks == 0) row.ranks = options.ranks;
  return row;
}

Record record_of(const ForeignRow& row, const std::string& log, const Invocation& call) {
  Record record{.status = Status::Unverified,
                .verification = {},
                .program = row.benchmark.empty() ? row.tool : row.tool + " " + row.benchmark,
                .experiment = fmt::format("{}:{}", log, row.line),
                .config_hash = "",
                .command = call.command,
                .date = utc_timestamp(),
                .measurements = {},
                .facts = {},
                .provenance = {}};
  for (const ForeignValue& value : row.values) {
    record.measurements.push_back({.name = value.name, .unit = value.unit, .samples = {value.value}});
  }
  const auto fact = [&record](const char* name, auto value) { record.facts.emplace_back(name, value); };
  if (!row.collective.empty()) fact("collective", row.collective);
  fact("size_bytes", row.bytes);
  if (!row.place.empty()) fact("place", row.place);
  if (!row.element.empty()) fact("element", row.element);
  if (!row.reduction.empty()) fact("reduction", row.reduction);
  fact("launch", log);
  if (row.repetitions > 0) fact("mean_of", row.repetitions);
  if (!row.note.empty()) fact("note", row.note);
  if (row.wrong) {
    fact("wrong", *row.wrong);
    record.verification = {.method = row.tool + "'s own check",
                           .outcome = *row.wrong == 0 ? Outcome::Passed : Outcome::Failed};
    record.status = *row.wrong > 0 ? Status::Failed : row.note.empty() ? Status::Complete : Status::Unverified;
  }
  record.provenance.version = row.version;
  record.provenance.git_commit = record.provenance.host = "unknown";
  record.provenance.placement = "imported; the log does not say on what";
  record.provenance.ranks = row.ranks;
  return record;
}

void print(const ForeignRow& row) {
  std::string values;
  for (const ForeignValue& value : row.values) {
    values += fmt::format("  {} {:g} {}", value.name, value.unit == "s" ? value.value * 1e6 : value.value,
                          value.unit == "s" ? "us" : value.unit);
  }
  const std::string benchmark = row.collective.empty() ? row.benchmark : row.collective;
  fmt::print("{:>13} {:<5} {:<37} {:>5} {:>6}{}{}\n", row.bytes, row.place.empty() ? "-" : row.place,
             benchmark.empty() ? "-" : benchmark, row.ranks, row.wrong ? std::to_string(*row.wrong) : "n/a", values,
             row.note.empty() ? "" : "  " + row.note);
}

}  // namespace

void ImportOptions::visit_fields(OptionVisitor& v) {
  v("logs", logs, "outputs of nccl-tests, rccl-tests, OSU micro-benchmarks or Intel MPI Benchmarks");
  v("record", record, "file to append a record a row to; empty: print the rows", {.changes_result = false});
  v("collective", collective, "allreduce, all-gather ..., where the log does not say");
  v("ranks", ranks, "how many took part, where the log does not say", {.min = 0});
}

void run_import(const ImportOptions& options, const Invocation& call) {
  if (options.logs.empty()) throw ConfigError("logs: import needs at least one file");
  std::vector<ForeignLog> logs;
  for (const std::string& file : options.logs) {
    logs.push_back(bench::read_foreign_log(std::filesystem::path(file)));
    const ForeignLog& log = logs.back();
    if (!log.odd_lines.empty()) {
      log::warning("{}:{}: begins with a size but has other columns than its table; {} such lines left out", file,
                   log.odd_lines.front(), log.odd_lines.size());
    }
  }
  if (options.record.empty()) {
    fmt::print("#{:>12} {:<5} {:<37} {:>5} {:>6}  values\n", "size (B)", "place", "benchmark", "ranks", "wrong");
  }
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (const ForeignRow& found : logs[i].rows) {
      const ForeignRow row = completed(found, options);
      ++rows;
      if (options.record.empty()) {
        print(row);
      } else {
        records::append(options.record, record_of(row, options.logs[i], call));
      }
    }
  }
  fmt::print("# {} rows of {} logs{}\n", rows, logs.size(), options.record.empty() ? "" : " in " + options.record);
}

}  // namespace eflops::programs
