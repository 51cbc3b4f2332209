#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure.h"

namespace eflops::bench {

/// What limits a collective where nothing else does: the memory of one server, or the port of each of several.
struct Line {
  std::string what;                 ///< "memory of this host"; empty if its rate is not known
  double bytes_per_second = 0;      ///< memory: reads and writes together; port: one direction
  std::vector<int> server_of_rank;  ///< 0 and up
  std::uint64_t cache_bytes = 0;    ///< memory does not limit what this cache holds
  bool is_between_servers() const;
};

/// Bytes that memory moves at least, on all ranks of one server together: every input is read once and every result
/// written once past the caches. `bytes` as in bandwidth().
std::int64_t least_memory_bytes(coll::Collective collective, int ranks, std::int64_t bytes);

/// The share of the line's rate that a row of `seconds` used: bytes through the busiest port (if known) or
/// least_memory_bytes, over time and rate. Nothing where the rate is unknown, or memory is not the limit because the
/// caches hold half of the buffers.
std::optional<double> share_of_line(const Line& line, coll::Collective collective, Place place, std::int64_t bytes,
                                    std::optional<std::int64_t> port_bytes, double seconds);

/// Bytes per second, read and written, when all ranks copy at the same time past the caches, each `bytes` from and to
/// memory of its own; the median of 5 passes, on every rank. All ranks call it together.
double measure_copy_rate(comm::Transport& transport, std::int64_t bytes, double timeout_s);

}  // namespace eflops::bench
