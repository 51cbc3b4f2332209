#include "programs/bench_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "comm/shm_transport.h"
#include "comm/tcp_transport.h"
#include "machine/machine.h"
#include "machine/nic.h"

namespace eflops::programs {
namespace {

constexpr std::int64_t kLeastCopyBytes = 16 << 20;

/// The interface that `bind` names, or the only one to the outside; null if that is not clear.
const machine::Nic* port_in(const std::vector<machine::Nic>& nics, const std::string& bind) {
  const machine::Nic* found = nullptr;
  for (const machine::Nic& nic : nics) {
    const bool is_named =
        !bind.empty() && (nic.name == bind || std::ranges::find(nic.addresses, bind) != nic.addresses.end());
    if (is_named) return &nic;
    if (!bind.empty() || !nic.is_up || nic.is_loopback || nic.is_bridge) continue;
    if (found != nullptr) return nullptr;
    found = &nic;
  }
  return found;
}

/// Gb/s of this rank's port; 0 if not known.
double port_gbps(const BenchOptions& options) {
  if (options.line_gbps > 0) return options.line_gbps;
  const std::vector<machine::Nic> nics = machine::list_nics();
  const machine::Nic* const nic = port_in(nics, options.bind);
  return nic == nullptr ? 0 : static_cast<double>(nic->speed_mbps) * 1e-3;
}

/// The same number for each rank of the same name.
std::vector<int> numbered(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  std::vector<int> numbers;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    numbers.push_back(static_cast<int>(std::ranges::find(known, name) - known.begin()));
  }
  return numbers;
}

std::unique_ptr<comm::Transport> open_transport(comm::MpiSession& session, comm::Bootstrap& bootstrap,
                                                const BenchOptions& options, bool one_host) {
  TransportChoice choice = options.transport;
  if (choice == TransportChoice::Auto) choice = one_host ? TransportChoice::Shm : TransportChoice::Tcp;
  switch (choice) {
    case TransportChoice::Shm:
      return comm::make_shm_transport(bootstrap, comm::Unregistered::Probe, options.timeout);
    case TransportChoice::Tcp:
      return comm::make_tcp_transport(
          bootstrap,
          {.bind = options.bind, .streams = static_cast<int>(options.streams), .timeout_s = options.timeout});
    default:
      return session.transport();
  }
}

void find_port(bench::Line& line, comm::Bootstrap& bootstrap, const BenchOptions& options) {
  double slowest = 0;
  for (const std::string& text :
       bootstrap.all_gather(fmt::format("{}", port_gbps(options)), comm::deadline_after(options.timeout))) {
    double gbps = 0;
    std::from_chars(text.data(), text.data() + text.size(), gbps);
    if (gbps <= 0) return;
    slowest = slowest == 0 ? gbps : std::min(slowest, gbps);
  }
  line.what = fmt::format("a port of {:g} Gb/s{}", slowest, options.line_gbps > 0 ? " (as told)" : "");
  line.bytes_per_second = slowest * 1e9 / 8;
}

}  // namespace

BenchNetwork open_network(comm::MpiSession& session, const BenchOptions& options, coll::Collective collective,
                          std::int64_t largest_bytes) {
  const std::unique_ptr<comm::Bootstrap> bootstrap = session.bootstrap(session.size());
  const auto gathered = [&](const std::string& mine) {
    return numbered(bootstrap->all_gather(mine, comm::deadline_after(options.timeout)));
  };
  const bool one_host = std::ranges::max(gathered(machine::host_name())) == 0;
  BenchNetwork network;
  bench::Line& line = network.line;
  line.server_of_rank = gathered(machine::network_name());
  if (line.is_between_servers()) find_port(line, *bootstrap, options);
  network.transport = open_transport(session, *bootstrap, options, one_host);
  if (line.is_between_servers() || session.size() == 1) return network;
  line.cache_bytes = machine::read_topology().last_level_cache_bytes();
  const auto moved = static_cast<std::uint64_t>(bench::least_memory_bytes(collective, session.size(), largest_bytes));
  if (line.cache_bytes > 0 && moved > line.cache_bytes) {
    const auto bytes = std::max(kLeastCopyBytes, 2 * static_cast<std::int64_t>(line.cache_bytes) / session.size());
    line.bytes_per_second = bench::measure_copy_rate(*network.transport, bytes, options.timeout);
    line.what = fmt::format("memory: {:.2f} GB/s read and written when all ranks copy", line.bytes_per_second * 1e-9);
  }
  return network;
}

}  // namespace eflops::programs
