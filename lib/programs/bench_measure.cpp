#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/progress.h"
#include "coll/algorithms.h"
#include "coll/cost.h"
#include "comm/mpi_collective.h"
#include "comm/one_pass.h"
#include "comm/shm_segment.h"
#include "comm/small_collectives.h"
#include "programs/bench_run.h"

namespace eflops::programs {
namespace {

using bench::TableRow;

bool is_scheduled(const PlannedRow& row) { return row.algorithm != kMpi && row.algorithm != comm::kOnePass; }

std::string bytes_text(double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); }

/// Why the row cannot run here, as this rank sees it; empty if it can.
std::string obstacle_here(const BenchRun& run, const PlannedRow& row) {
  const coll::Problem& problem = row.request.problem;
  if (is_scheduled(row)) {
    if (const auto refusal = coll::algorithm(problem.collective, row.algorithm).refuses(problem)) return *refusal;
  }
  if (row.algorithm == comm::kOnePass && !comm::can_one_pass(run.transport)) {
    return fmt::format("needs ranks that see each other's memory: transport shm, not {}", run.transport.name());
  }
  if (row.algorithm == kMpi && problem.elements > std::numeric_limits<int>::max()) {
    return "MPI_Allreduce takes at most 2^31 - 1 elements";
  }
  const std::int64_t buffer = problem.elements * kernels::bytes_of(row.request.execution.element);
  // Two buffers, and as much again where an algorithm stages or has scratch memory.
  const double needed = 3.0 * static_cast<double>(buffer) * run.head.ranks;
  const auto available = static_cast<double>(machine::available_memory_bytes());
  if (needed > 0.9 * available) {
    return fmt::format("needs {} on this host, {} are free", bytes_text(needed), bytes_text(available));
  }
  if (run.transport.name() == "shm" && run.options.registered) {
    // The rows of a size share their buffers.
    const bool two = run.options.place != PlaceChoice::In;
    const double shared = (two ? 2.0 : 1.0) * static_cast<double>(buffer) * run.head.ranks;
    const auto free = static_cast<double>(comm::shm_free_bytes());
    if (shared > free) {
      return fmt::format("needs {} of /dev/shm, {} are free (or --registered false)", bytes_text(shared),
                         bytes_text(free));
    }
  }
  return "";
}

/// What rank 0 says, on every rank.
std::string obstacle(BenchRun& run, const PlannedRow& row) {
  std::array<char, 256> text{};
  if (run.speaks()) obstacle_here(run, row).copy(text.data(), text.size() - 1);
  comm::broadcast(run.transport, std::as_writable_bytes(std::span(text)), comm::deadline_after(run.options.timeout));
  return text.data();
}

std::unique_ptr<comm::PreparedCollective> prepare(BenchRun& run, const PlannedRow& row) {
  const coll::Problem& problem = row.request.problem;
  const comm::Execution& execution = row.request.execution;
  if (row.algorithm == kMpi) return comm::prepare_mpi_allreduce(problem, execution);
  if (row.algorithm == comm::kOnePass) return comm::prepare_one_pass_allreduce(run.transport, problem, execution);
  return comm::prepare_scheduled(run.transport, coll::algorithm(problem.collective, row.algorithm), problem, run.map,
                                 execution);
}

/// Bytes through the busiest server's port in one direction; nothing for one server, or where the way is not ours.
std::optional<std::int64_t> port_bytes(const BenchRun& run, const PlannedRow& row) {
  if (!run.head.line.is_between_servers() || !is_scheduled(row)) return std::nullopt;
  const coll::Problem& problem = row.request.problem;
  std::int64_t most = 0;
  for (const coll::GroupBytes& bytes :
       coll::bytes_by_group(coll::algorithm(problem.collective, row.algorithm), problem,
                            kernels::bytes_of(row.request.execution.element), run.map, run.head.line.server_of_rank)) {
    most = std::max({most, bytes.out, bytes.in});
  }
  return most;
}

}  // namespace

std::vector<TableRow> measure_rows(BenchRun& run, std::span<const PlannedRow> planned) {
  std::vector<TableRow> rows;
  std::vector<std::unique_ptr<comm::PreparedCollective>> prepared;
  std::vector<bench::Candidate> candidates;
  std::vector<std::size_t> row_of;  // of each candidate
  for (const PlannedRow& plan : planned) {
    const coll::Problem& problem = plan.request.problem;
    TableRow row{.bytes = problem.elements * kernels::bytes_of(plan.request.execution.element),
                 .count = problem.elements,
                 .place = plan.request.place,
                 .algorithm = plan.algorithm,
                 .result = {},
                 .is_checked = plan.request.check,
                 .port_bytes = {},
                 .note = {}};
    const std::string reason = obstacle(run, plan);
    row.note = plan.note;
    if (reason.empty()) {
      row.port_bytes = port_bytes(run, plan);
      prepared.push_back(prepare(run, plan));
      candidates.push_back({prepared.back().get(), plan.request});
      row_of.push_back(rows.size());
    } else {
      row.note = "skipped: " + reason;
    }
    rows.push_back(std::move(row));
  }
  std::vector<bench::RowResult> results = bench::measure(run.transport, candidates, run.options.registered);
  for (std::size_t i = 0; i < results.size(); ++i) rows[row_of[i]].result = std::move(results[i]);
  return rows;
}

}  // namespace eflops::programs
