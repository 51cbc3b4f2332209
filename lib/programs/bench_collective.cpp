#include "programs/bench_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include "base/build_info.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "coll/algorithms.h"
#include "comm/agreement.h"
#include "comm/mpi_collective.h"
#include "comm/mpi_session.h"
#include "comm/shm_segment.h"
#include "comm/shm_transport.h"
#include "comm/small_collectives.h"
#include "comm/tcp_transport.h"
#include "experiment/provenance.h"
#include "machine/machine.h"
#include "programs/bench_launch.h"
#include "programs/bench_rows.h"
#include "records/record.h"

namespace eflops::programs {
namespace {

using bench::TableRow;

bool is_one_host(comm::Bootstrap& bootstrap, comm::Deadline deadline) {
  const std::vector<std::string> hosts = bootstrap.all_gather(machine::host_name(), deadline);
  for (const std::string& host : hosts) {
    if (host != hosts.front()) return false;
  }
  return true;
}

std::unique_ptr<comm::Transport> open_transport(comm::MpiSession& session, const BenchOptions& options) {
  const std::unique_ptr<comm::Bootstrap> bootstrap = session.bootstrap(session.size());
  TransportChoice choice = options.transport;
  if (choice == TransportChoice::Auto) {
    const bool one_host = is_one_host(*bootstrap, comm::deadline_after(options.timeout));
    choice = one_host ? TransportChoice::Shm : TransportChoice::Tcp;
  }
  switch (choice) {
    case TransportChoice::Shm:
      return comm::make_shm_transport(*bootstrap, comm::Unregistered::Probe, options.timeout);
    case TransportChoice::Tcp:
      return comm::make_tcp_transport(
          *bootstrap,
          {.bind = options.bind, .streams = static_cast<int>(options.streams), .timeout_s = options.timeout});
    default:
      return session.transport();
  }
}

/// All that one run of the program shares.
struct Bench {
  const BenchOptions& options;
  const Invocation& call;
  comm::Transport& transport;
  machine::Machine machine;
  bench::TableHead head;
  coll::RankMap map;
  std::vector<TableRow> rows;  // on rank 0

  bool speaks() const { return transport.rank() == 0; }
};

void print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

void print_head(const Bench& bench) {
  const BenchOptions& options = bench.options;
  std::string text;
  text += fmt::format("# eflops-bench {} ({})  {}  cmd: {}\n", build_info().version,
                      std::string(build_info().git_commit).substr(0, 10), utc_timestamp(), bench.call.command);
  text += fmt::format("# {}  ranks {} on {}  transport {}{}  {}\n", coll::collective_name(bench.head.collective),
                      bench.head.ranks, bench.machine.host, bench.transport.name(),
                      options.registered ? " (registered memory)" : "", comm::MpiSession::library());
  text += fmt::format("# element {}  reduction {}  map {}  segment {}  cadence {}  cache {}\n", bench.head.element,
                      bench.head.reduction, choice_name(options.map), options.segment, choice_name(options.cadence),
                      choice_name(options.cache));
  text += options.iterations > 0
              ? fmt::format("# warmup {}  iterations {}", options.warmup, options.iterations)
              : fmt::format("# warmup {}  iterations until ci95 of the median <= {:g} %, at most {} or {:g} s a row",
                            options.warmup, options.precision * 100, options.most_iterations, options.row_seconds);
  text += fmt::format("  check {}  GB = 1e9 bytes\n", options.check ? "exact, every iteration" : "none");
  if (bench.machine.load > 0.3) {
    text += fmt::format("# load {:.2f} at the start: other processes disturb the times\n", bench.machine.load);
  }
  text += options.format == TableFormat::Nccl ? bench::nccl_columns() : bench::columns();
  print(text);
}

/// Why the row cannot run here, as rank 0 sees it, on every rank; empty if it can.
std::string obstacle(Bench& bench, const PlannedRow& row) {
  std::array<std::byte, 256> text{};
  if (bench.speaks()) {
    std::string reason;
    const coll::Problem& problem = row.request.problem;
    const bool by_mpi = row.algorithm == kMpi;
    const std::int64_t buffer = problem.elements * kernels::bytes_of(row.request.execution.element);
    // Two buffers, and as much again where an algorithm stages or has scratch memory.
    const double needed = 3.0 * static_cast<double>(buffer) * bench.head.ranks;
    const auto available = static_cast<double>(machine::inspect().memory_available_bytes);
    const auto refusal = by_mpi ? std::nullopt : coll::algorithm(problem.collective, row.algorithm).refuses(problem);
    if (refusal) {
      reason = *refusal;
    } else if (by_mpi && problem.elements > std::numeric_limits<int>::max()) {
      reason = "MPI_Allreduce takes at most 2^31 - 1 elements";
    } else if (needed > 0.9 * available) {
      reason = fmt::format("needs {} on this host, {} are free", format_bytes(static_cast<std::uint64_t>(needed)),
                           format_bytes(static_cast<std::uint64_t>(available)));
    } else if (bench.transport.name() == "shm" && bench.options.registered) {
      const std::int64_t shared = (row.request.place == bench::Place::Out ? 2 : 1) * buffer * bench.head.ranks;
      const std::int64_t free = comm::shm_free_bytes();
      if (shared > free) {
        reason = fmt::format("needs {} of /dev/shm, {} are free (or --registered false)",
                             format_bytes(static_cast<std::uint64_t>(shared)),
                             format_bytes(static_cast<std::uint64_t>(free)));
      }
    }
    const auto length = std::min(reason.size(), text.size() - 1);
    std::transform(reason.begin(), reason.begin() + static_cast<std::ptrdiff_t>(length), text.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
  }
  comm::broadcast(bench.transport, text, comm::deadline_after(bench.options.timeout));
  return reinterpret_cast<const char*>(text.data());
}

void write_record(const Bench& bench, const PlannedRow& planned, const TableRow& row) {
  records::Record record =
      experiment::start_record({.program = bench.call.program,
                                .experiment = fmt::format("{} {} {}", planned.algorithm, row.bytes,
                                                          row.place == bench::Place::Out ? "out" : "in"),
                                .config_hash = config_hash(bench.call.options),
                                .command = bench.call.command,
                                .seed = bench.options.seed},
                               bench.machine);
  record.provenance.ranks = bench.head.ranks;
  if (!row.result.seconds.empty()) {
    record.measurements.push_back({.name = "iteration_time", .unit = "s", .samples = row.result.seconds});
  }
  const auto fact = [&record](std::string name, auto value) { record.facts.emplace_back(std::move(name), value); };
  fact("size_bytes", row.bytes);
  fact("count", row.count);
  fact("place", std::string(row.place == bench::Place::Out ? "out" : "in"));
  fact("algorithm", row.algorithm);
  fact("transport", std::string(bench.transport.name()));
  fact("registered", bench.options.registered);
  fact("element", bench.head.element);
  fact("reduction", bench.head.reduction);
  fact("map", std::string(choice_name(bench.options.map)));
  fact("cadence", std::string(choice_name(bench.options.cadence)));
  fact("cache", std::string(choice_name(bench.options.cache)));
  fact("segment_bytes", planned.request.execution.segment_bytes);
  fact("wrong", row.result.wrong);
  fact("precise", row.result.is_precise);
  if (!row.note.empty()) fact("note", row.note);
  record.verification.method = "every element exact after every iteration";
  if (row.result.seconds.empty()) {
    record.status = records::Status::Unverified;
  } else if (row.result.wrong > 0) {
    record.status = records::Status::Failed;
    record.verification.outcome = records::Outcome::Failed;
  } else if (row.is_checked) {
    record.status = records::Status::Complete;
    record.verification.outcome = records::Outcome::Passed;
  }
  records::append(bench.options.record, record);
}

TableRow measure_row(Bench& bench, const PlannedRow& planned) {
  const coll::Problem& problem = planned.request.problem;
  TableRow row{.bytes = problem.elements * kernels::bytes_of(planned.request.execution.element),
               .count = problem.elements,
               .place = planned.request.place,
               .algorithm = planned.algorithm,
               .result = {},
               .is_checked = planned.request.check,
               .note = {}};
  const std::string reason = obstacle(bench, planned);
  if (!reason.empty()) {
    row.note = "skipped: " + reason;
    return row;
  }
  const auto prepared =
      planned.algorithm == kMpi
          ? comm::prepare_mpi_allreduce(problem, planned.request.execution)
          : comm::prepare_scheduled(bench.transport, coll::algorithm(problem.collective, planned.algorithm), problem,
                                    bench.map, planned.request.execution);
  row.result = bench::measure(bench.transport, *prepared, planned.request, bench.options.registered);
  return row;
}

/// nccl-tests prints both places of a size in one line: when the first of the two is known, nothing is printed yet.
void print_row(const Bench& bench) {
  const TableRow& last = bench.rows.back();
  if (bench.options.format == TableFormat::People) return print(bench::line_of(bench.head, last));
  const TableRow* before = bench.rows.size() > 1 ? &bench.rows[bench.rows.size() - 2] : nullptr;
  const bool both = bench.options.place == PlaceChoice::Both && bench.options.cadence == bench::Cadence::Isolated;
  if (!both) {
    const bool out = last.place == bench::Place::Out;
    print(bench::nccl_line(bench.head, out ? &last : nullptr, out ? nullptr : &last));
  } else if (last.place == bench::Place::In) {
    print(bench::nccl_line(bench.head, before, &last));
  }
}

void measure_all(Bench& bench, const std::vector<PlannedRow>& planned) {
  const BenchOptions& options = bench.options;
  comm::check_agreement(bench.transport,
                        {{"the configuration", config_hash(bench.call.options)},
                         {"the number of rows", std::to_string(planned.size())},
                         {"the version", std::string(build_info().git_commit)}},
                        comm::deadline_after(options.timeout));
  if (bench.speaks()) print_head(bench);
  for (const PlannedRow& row : planned) {
    TableRow done = measure_row(bench, row);
    if (!bench.speaks()) continue;
    bench.rows.push_back(std::move(done));
    print_row(bench);
    if (!options.record.empty()) write_record(bench, row, bench.rows.back());
  }
  if (!bench.speaks()) return;
  print(options.format == TableFormat::Nccl ? bench::nccl_footer(bench.head, bench.rows)
                                            : bench::footer(bench.head, bench.rows));
  std::int64_t wrong = 0;
  for (const TableRow& row : bench.rows) wrong += row.result.wrong;
  if (wrong > 0) throw CheckFailed("{} elements were wrong", wrong);
}

/// The program on one rank; its transport tells the others if it fails.
void run_rank(comm::MpiSession& session, coll::Collective collective, const BenchOptions& options,
              const Invocation& call) {
  const machine::Machine machine = machine::inspect();
  const std::vector<PlannedRow> planned = plan_rows(collective, options, session.size());
  const std::unique_ptr<comm::Transport> transport = open_transport(session, options);
  Bench bench{.options = options,
              .call = call,
              .transport = *transport,
              .machine = machine,
              .head = {.collective = collective,
                       .ranks = session.size(),
                       .element = std::string(kernels::element_name(element_named(options.element))),
                       .reduction = std::string(kernels::reduction_name(reduction_named(options.reduction))),
                       .root = collective == coll::Collective::Broadcast ? static_cast<int>(options.root) : -1},
              .map = rank_map(options, session.size()),
              .rows = {}};
  try {
    measure_all(bench, planned);
    comm::barrier(*transport, comm::deadline_after(options.timeout));
  } catch (const std::exception& error) {
    transport->fail(fmt::format("rank {}: {}", session.rank(), error.what()));
    throw;
  }
}

}  // namespace

void run_bench(coll::Collective collective, const BenchOptions& options, const Invocation& call) {
  plan_rows(collective, options, 2);  // what is wrong with the options is said once, before any rank starts
  launch_ranks_unless_launched(options.ranks);
  comm::MpiSession session;
  std::string source;
  const int promised = comm::promised_ranks(source);
  if (options.ranks > 0 && session.size() != options.ranks) {
    throw CommError("ranks is {}, but {} started {}", options.ranks, promised > 0 ? source : "nothing", session.size());
  }
  try {
    run_rank(session, collective, options, call);
  } catch (const Error& error) {
    if (session.size() == 1) throw;
    session.abort(static_cast<int>(error.exit_code()), error.what());
  }
}

void estimate_bench(coll::Collective collective, const BenchOptions& options) {
  const int ranks = options.ranks > 0 ? static_cast<int>(options.ranks) : 2;
  const std::vector<PlannedRow> planned = plan_rows(collective, options, ranks);
  std::int64_t largest = 0;
  for (const PlannedRow& row : planned) {
    largest = std::max(largest, row.request.problem.elements * kernels::bytes_of(row.request.execution.element));
  }
  const double seconds = options.iterations > 0 ? 0 : static_cast<double>(planned.size()) * options.row_seconds;
  fmt::print("{} rows; largest buffers 2 x {} a rank; {}\n", planned.size(),
             format_bytes(static_cast<std::uint64_t>(largest)),
             options.iterations > 0 ? fmt::format("{} iterations a row", options.iterations)
                                    : "at most about " + format_duration(std::chrono::duration<double>(seconds)));
}

}  // namespace eflops::programs
