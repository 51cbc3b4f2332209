#pragma once

#include <memory>

#include "bench/line.h"
#include "comm/mpi_session.h"
#include "programs/bench_options.h"

namespace eflops::programs {

/// What joins the ranks, and how fast it can be.
struct BenchNetwork {
  std::unique_ptr<comm::Transport> transport;
  bench::Line line;
};

/// Opens the transport that the options name, all ranks together. Servers are hosts, and network name spaces of one
/// host. Between servers the line is the slowest rank's port: `line_gbps`, or what the interface tells; on one server
/// it is memory, timed when rows of `largest_bytes` a rank do not fit in the caches.
BenchNetwork open_network(comm::MpiSession& session, const BenchOptions& options, coll::Collective collective,
                          std::int64_t largest_bytes);

}  // namespace eflops::programs
