#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace eflops::machine {

/// A network interface as the kernel shows it. What it does not tell is 0 or empty, never guessed.
struct Nic {
  std::string name;
  bool is_up = false;                  ///< switched on, and with a link where it can tell
  bool is_loopback = false;            ///< reaches this host alone
  bool is_virtual = false;             ///< no device stands behind it: bridges, veth pairs, tunnels, the loopback
  bool is_bridge = false;              ///< joins other interfaces, such as docker0 and virbr0
  std::int64_t speed_mbps = 0;         ///< 10^6 bit/s of the link; 0: unknown, as of most virtual ones
  std::int64_t mtu = 0;                ///< bytes
  std::string driver;                  ///< "mlx5_core"; empty for virtual ones
  std::vector<std::string> addresses;  ///< "10.0.0.1", "fe80::1"
};

/// Every interface that stands in `folder`, by name; without addresses, which the folder does not have.
std::vector<Nic> nics_in(const std::filesystem::path& folder);
/// Every interface of this process's network name space, by name, with addresses. DataError if they cannot be listed.
std::vector<Nic> list_nics();

/// What went through an interface since it exists.
struct NicCounters {
  std::int64_t received_bytes = 0;
  std::int64_t sent_bytes = 0;
  std::int64_t received_packets = 0;
  std::int64_t sent_packets = 0;
  std::int64_t received_errors = 0;
  std::int64_t sent_errors = 0;
  std::int64_t received_dropped = 0;
  std::int64_t sent_dropped = 0;  ///< by the device or its driver; a queueing discipline counts its own

  bool operator==(const NicCounters&) const = default;
};

/// What went through between two readings.
NicCounters operator-(const NicCounters& after, const NicCounters& before);

/// The counters of interface `name` now. DataError if there is no such interface.
NicCounters read_nic_counters(const std::string& name, const std::filesystem::path& folder = "/sys/class/net");

}  // namespace eflops::machine
