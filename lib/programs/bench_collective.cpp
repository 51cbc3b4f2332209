#include "programs/bench_collective.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "base/build_info.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/stats.h"
#include "comm/agreement.h"
#include "comm/one_pass.h"
#include "comm/small_collectives.h"
#include "programs/bench_launch.h"
#include "programs/bench_network.h"
#include "programs/bench_run.h"

namespace eflops::programs {
namespace {

std::int64_t largest_buffer(const std::vector<PlannedRow>& rows) {
  std::int64_t largest = 0;
  for (const PlannedRow& row : rows) {
    largest = std::max(largest, row.request.problem.elements * kernels::bytes_of(row.request.execution.element));
  }
  return largest;
}

/// The first rows, that have one size.
std::span<const PlannedRow> same_size(std::span<const PlannedRow> rows) {
  const auto other = std::ranges::find_if(rows, [&](const PlannedRow& row) {
    return row.request.problem.elements != rows.front().request.problem.elements;
  });
  return rows.first(static_cast<std::size_t>(other - rows.begin()));
}

void check_gates(const BenchRun& run) {
  const std::int64_t wrong = bench::wrong_in(run.rows);
  if (wrong > 0) throw CheckFailed("{} elements were wrong", wrong);
  const double least = run.options.min_busbw;
  if (least <= 0) return;
  const std::vector<double> rates = bench::rates_of(run.head, run.rows);
  if (rates.empty()) throw CheckFailed("min_busbw: no row ran");
  if (stats::mean(rates) < least) {
    throw CheckFailed("min_busbw: the mean bus bandwidth is {:.3f} GB/s, below {:g}", stats::mean(rates), least);
  }
}

void measure_all(BenchRun& run, std::span<const PlannedRow> planned) {
  comm::check_agreement(run.transport,
                        {{"the tuning table", run.table_hash},
                         {"the configuration", config_hash(run.call.options)},
                         {"the number of rows", std::to_string(planned.size())},
                         {"the version", std::string(build_info().git_commit)}},
                        comm::deadline_after(run.options.timeout));
  if (run.speaks()) print_head(run);
  while (!planned.empty()) {
    const std::span<const PlannedRow> size = same_size(planned);
    const std::vector<bench::TableRow> rows = measure_rows(run, size);
    for (std::size_t i = 0; run.speaks() && i < rows.size(); ++i) {
      run.rows.push_back(rows[i]);
      print_row(run);
      if (!run.options.record.empty()) write_record(run, size[i], rows[i]);
    }
    planned = planned.subspan(size.size());
  }
  if (!run.speaks()) return;
  print_footer(run);
  check_gates(run);
}

/// What `auto` follows, in words; empty where no row asks for it.
std::string automatic_text(const BenchOptions& options, const RankSet& ranks, coll::Collective collective) {
  if (std::ranges::find(options.algorithm, "auto") == options.algorithm.end() || options.table.empty()) return "";
  const bench::TuningCase one = ranks.tuning_case(collective);
  if (ranks.table->entries(one).empty()) return fmt::format("{} has no {}: built-in rule", options.table, one.key());
  return fmt::format("{} {} (hash {})", options.table, one.key(), ranks.table->hash());
}

bench::TuningTable table_of(const BenchOptions& options) {
  return options.table.empty() ? bench::TuningTable() : bench::TuningTable::read(options.table);
}

}  // namespace

std::vector<bench::TableRow> measure_collective(comm::MpiSession& session, coll::Collective collective,
                                                const BenchOptions& options, const Invocation& call,
                                                const std::function<void(const RankSet&)>& learn) {
  const machine::Machine machine = machine::inspect();
  const bench::TuningTable table = table_of(options);
  RankSet ranks{.count = session.size(), .table = &table};
  BenchNetwork network =
      open_network(session, options, collective, largest_buffer(plan_rows(collective, options, ranks)));
  ranks.see_memory = comm::can_one_pass(*network.transport);
  ranks.servers = 1 + std::ranges::max(network.line.server_of_rank);
  ranks.transport = network.transport->name();
  if (learn) learn(ranks);
  const std::vector<PlannedRow> planned = plan_rows(collective, options, ranks);
  BenchRun run{.options = options,
               .call = call,
               .transport = *network.transport,
               .machine = machine,
               .head = {.collective = collective,
                        .ranks = ranks.count,
                        .element = std::string(kernels::element_name(element_named(options.element))),
                        .reduction = std::string(kernels::reduction_name(reduction_named(options.reduction))),
                        .root = collective == coll::Collective::Broadcast ? static_cast<int>(options.root) : -1,
                        .line = network.line},
               .map = rank_map(options, ranks.count),
               .table_hash = table.hash(),
               .automatic = automatic_text(options, ranks, collective),
               .launch = fmt::format("{} {} {}", machine.host, utc_timestamp(), ::getpid()),
               .rows = {}};
  try {
    measure_all(run, planned);
    comm::barrier(run.transport, comm::deadline_after(options.timeout));
  } catch (const std::exception& error) {
    run.transport.fail(fmt::format("rank {}: {}", session.rank(), error.what()));
    throw;
  }
  return run.rows;
}

void run_ranks(const BenchOptions& options, const std::function<void(comm::MpiSession&)>& body) {
  launch_ranks_unless_launched(options.ranks, options.launches);
  comm::MpiSession session;
  std::string source;
  const int promised = comm::promised_ranks(source);
  if (options.ranks > 0 && session.size() != options.ranks) {
    throw CommError("ranks is {}, but {} started {}", options.ranks, promised > 0 ? source : "nothing", session.size());
  }
  try {
    body(session);
  } catch (const Error& error) {
    if (session.size() == 1) throw;
    session.abort(static_cast<int>(error.exit_code()), error.what());
  }
}

void run_bench(coll::Collective collective, const BenchOptions& options, const Invocation& call) {
  // What is wrong with the options is said once, before any rank starts.
  table_of(options);
  plan_rows(collective, options, {2, true});
  run_ranks(options, [&](comm::MpiSession& session) { measure_collective(session, collective, options, call); });
}

void estimate_bench(coll::Collective collective, const BenchOptions& options) {
  const int ranks = options.ranks > 0 ? static_cast<int>(options.ranks) : 2;
  const std::vector<PlannedRow> planned = plan_rows(collective, options, {ranks, true});
  const std::int64_t largest = largest_buffer(planned);
  const double seconds = options.iterations > 0 ? 0 : static_cast<double>(planned.size()) * options.row_seconds;
  fmt::print("{} rows; largest buffers 2 x {} a rank; {}\n", planned.size(),
             format_bytes(static_cast<std::uint64_t>(largest)),
             options.iterations > 0 ? fmt::format("{} iterations a row", options.iterations)
                                    : "at most about " + format_duration(std::chrono::duration<double>(seconds)));
}

}  // namespace eflops::programs
