#include <fmt/format.h>

#include <cstdio>

#include "base/build_info.h"
#include "base/clock.h"
#include "comm/mpi_session.h"
#include "programs/bench_run.h"

namespace eflops::programs {
namespace {

void print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

}  // namespace

void print_head(const BenchRun& run) {
  const BenchOptions& options = run.options;
  std::string text;
  text += fmt::format("# eflops-bench {} ({})  {}  cmd: {}\n", build_info().version,
                      std::string(build_info().git_commit).substr(0, 10), utc_timestamp(), run.call.command);
  text += fmt::format("# {}  ranks {} on {}  transport {}{}  {}\n", coll::collective_name(run.head.collective),
                      run.head.ranks, run.machine.host, run.transport.name(),
                      options.registered ? " (registered memory)" : "", comm::MpiSession::library());
  text += fmt::format("# element {}  reduction {}  map {}  segment {}  cadence {}  cache {}\n", run.head.element,
                      run.head.reduction, choice_name(options.map), options.segment, choice_name(options.cadence),
                      choice_name(options.cache));
  text += options.iterations > 0
              ? fmt::format("# warmup {}  iterations {}", options.warmup, options.iterations)
              : fmt::format("# warmup {}  iterations until ci95 of the median <= {:g} %, at most {} or {:g} s a row",
                            options.warmup, options.precision * 100, options.most_iterations, options.row_seconds);
  text += fmt::format("  check {}  GB = 1e9 bytes\n", options.check ? "exact, every iteration" : "none");
  if (run.machine.load > 0.3) {
    text += fmt::format("# load {:.2f} at the start: other processes disturb the times\n", run.machine.load);
  }
  if (!run.automatic.empty()) text += fmt::format("# auto: {}\n", run.automatic);
  text += run.head.line.what.empty() ? std::string() : fmt::format("# line: {}\n", run.head.line.what);
  switch (options.format) {
    case TableFormat::Csv:
      text += bench::csv_columns();
      break;
    case TableFormat::Nccl:
      text += bench::nccl_columns();
      break;
    case TableFormat::People:
      text += bench::columns();
      break;
  }
  print(text);
}

/// nccl-tests prints both places of a size in one line: when the first of the two is known, nothing is printed yet.
void print_row(const BenchRun& run) {
  const bench::TableRow& last = run.rows.back();
  if (run.options.format == TableFormat::Csv) return print(bench::csv_line(run.head, last));
  if (run.options.format == TableFormat::People) return print(bench::line_of(run.head, last));
  const bench::TableRow* before = run.rows.size() > 1 ? &run.rows[run.rows.size() - 2] : nullptr;
  const bool both = run.options.place == PlaceChoice::Both && run.options.cadence == bench::Cadence::Isolated;
  if (!both) {
    const bool out = last.place == bench::Place::Out;
    print(bench::nccl_line(run.head, out ? &last : nullptr, out ? nullptr : &last));
  } else if (last.place == bench::Place::In) {
    print(bench::nccl_line(run.head, before, &last));
  }
}

void print_footer(const BenchRun& run) {
  switch (run.options.format) {
    case TableFormat::Csv:
      return;
    case TableFormat::Nccl:
      return print(bench::nccl_footer(run.head, run.rows));
    case TableFormat::People:
      return print(bench::footer(run.head, run.rows));
  }
}

}  // namespace eflops::programs
