#include "bench/line.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/stats.h"
#include "comm/private_memory.h"
#include "comm/small_collectives.h"
#include "kernels/copy.h"

namespace eflops::bench {

bool Line::is_between_servers() const {
  return std::ranges::any_of(server_of_rank, [this](int server) { return server != server_of_rank.front(); });
}

std::int64_t least_memory_bytes(coll::Collective collective, int ranks, std::int64_t bytes) {
  switch (collective) {
    case coll::Collective::Allreduce:
    case coll::Collective::AllToAll:
      return 2 * ranks * bytes;
    case coll::Collective::ReduceScatter:
    case coll::Collective::AllGather:
      return (ranks + 1) * bytes;
    case coll::Collective::Broadcast:
      return ranks * bytes;
  }
  throw InternalError("collective {}", static_cast<int>(collective));
}

std::optional<double> share_of_line(const Line& line, coll::Collective collective, Place place, std::int64_t bytes,
                                    std::optional<std::int64_t> port_bytes, double seconds) {
  EFLOPS_CHECK(seconds > 0, "{} seconds", seconds);
  if (line.bytes_per_second <= 0 || bytes == 0) return std::nullopt;
  if (!line.is_between_servers()) {
    const auto ranks = static_cast<int>(line.server_of_rank.size());
    const auto held = static_cast<std::uint64_t>((place == Place::Out ? 2 : 1) * ranks * bytes);
    if (held <= 2 * line.cache_bytes) return std::nullopt;
    port_bytes = least_memory_bytes(collective, ranks, bytes);
  }
  if (!port_bytes) return std::nullopt;
  return static_cast<double>(*port_bytes) / seconds / line.bytes_per_second;
}

double measure_copy_rate(comm::Transport& transport, std::int64_t bytes, double timeout_s) {
  constexpr int kPasses = 5;
  const auto from = comm::private_memory(bytes);
  const auto to = comm::private_memory(bytes);
  std::memset(from.get(), 1, static_cast<std::size_t>(bytes));
  std::memset(to.get(), 0, static_cast<std::size_t>(bytes));
  std::array<double, kPasses> rates{};
  for (double& rate : rates) {
    comm::barrier(transport, comm::deadline_after(timeout_s));
    const auto begin = std::chrono::steady_clock::now();
    kernels::copy_streaming(to.get(), from.get(), bytes);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    rate = 2.0 * static_cast<double>(bytes) / seconds.count();
  }
  if (bytes > 0 && to.get()[bytes - 1] != std::byte{1}) throw CheckFailed("a copy of {} bytes did not arrive", bytes);
  std::array<double, 1> total{stats::median(rates)};
  const std::vector<std::vector<double>> all = comm::gather(transport, total, comm::deadline_after(timeout_s));
  if (!all.empty()) total[0] = 0;
  for (const std::vector<double>& rank : all) total[0] += rank[0];
  comm::broadcast(transport, std::as_writable_bytes(std::span(total)), comm::deadline_after(timeout_s));
  return total[0];
}

}  // namespace eflops::bench
