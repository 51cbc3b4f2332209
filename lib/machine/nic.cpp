#include "machine/nic.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/error.h"

namespace eflops::machine {
namespace {

namespace fs = std::filesystem;

/// Empty where the file is absent or, as `speed` of a virtual interface, refuses to be read.
std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::int64_t number_in(const fs::path& file) { return std::strtoll(first_line(file).c_str(), nullptr, 0); }

Nic read_nic(const fs::path& folder) {
  Nic nic;
  nic.name = folder.filename();
  const std::int64_t flags = number_in(folder / "flags");
  const std::string state = first_line(folder / "operstate");
  // The loopback and some virtual interfaces never learn whether there is a link: "unknown" is up for them.
  nic.is_up = (flags & IFF_UP) != 0 && (state == "up" || state == "unknown");
  nic.is_loopback = (flags & IFF_LOOPBACK) != 0;
  std::error_code absent;
  nic.is_virtual = !fs::exists(folder / "device", absent);
  nic.is_bridge = fs::exists(folder / "bridge", absent);
  nic.speed_mbps = std::max<std::int64_t>(0, number_in(folder / "speed"));  // -1: the device does not tell
  nic.mtu = number_in(folder / "mtu");
  nic.driver = fs::read_symlink(folder / "device" / "driver", absent).filename();
  return nic;
}

std::string address_text(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = address.sa_family == AF_INET
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
                          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) != nullptr ? text.data() : "";
}

}  // namespace

std::vector<Nic> nics_in(const fs::path& folder) {
  std::vector<Nic> nics;
  std::error_code unreadable;
  for (fs::directory_iterator entry(folder, unreadable), end; entry != end; entry.increment(unreadable)) {
    // Files such as bonding_masters stand beside the interfaces.
    std::error_code absent;
    if (fs::exists(entry->path() / "flags", absent)) nics.push_back(read_nic(entry->path()));
  }
  std::ranges::sort(nics, {}, &Nic::name);
  return nics;
}

std::vector<Nic> list_nics() {
  std::vector<Nic> nics = nics_in("/sys/class/net");
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) throw DataError("network interfaces: getifaddrs: {}", std::strerror(errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, ::freeifaddrs);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const sockaddr& address = *entry->ifa_addr;
    if (address.sa_family != AF_INET && address.sa_family != AF_INET6) continue;
    const auto nic = std::ranges::find(nics, entry->ifa_name, &Nic::name);
    if (nic != nics.end()) nic->addresses.push_back(address_text(address));
  }
  return nics;
}

NicCounters operator-(const NicCounters& after, const NicCounters& before) {
  return {.received_bytes = after.received_bytes - before.received_bytes,
          .sent_bytes = after.sent_bytes - before.sent_bytes,
          .received_packets = after.received_packets - before.received_packets,
          .sent_packets = after.sent_packets - before.sent_packets,
          .received_errors = after.received_errors - before.received_errors,
          .sent_errors = after.sent_errors - before.sent_errors,
          .received_dropped = after.received_dropped - before.received_dropped,
          .sent_dropped = after.sent_dropped - before.sent_dropped};
}

NicCounters read_nic_counters(const std::string& name, const fs::path& folder) {
  const fs::path statistics = folder / name / "statistics";
  std::error_code absent;
  if (name.empty() || !fs::is_directory(statistics, absent)) {
    throw DataError("no network interface '{}' with counters in {}", name, folder.string());
  }
  const auto counter = [&](const char* file) { return number_in(statistics / file); };
  return {.received_bytes = counter("rx_bytes"),
          .sent_bytes = counter("tx_bytes"),
          .received_packets = counter("rx_packets"),
          .sent_packets = counter("tx_packets"),
          .received_errors = counter("rx_errors"),
          .sent_errors = counter("tx_errors"),
          .received_dropped = counter("rx_dropped"),
          .sent_dropped = counter("tx_dropped")};
}

}  // namespace eflops::machine
