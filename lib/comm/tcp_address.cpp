#include "comm/tcp_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace eflops::comm {

TcpAddress::TcpAddress(const sockaddr* address, socklen_t length) : length_(length) {
  EFLOPS_CHECK(length <= sizeof storage_, "an address of {} bytes", length);
  std::memcpy(&storage_, address, length);
}

TcpAddress TcpAddress::parse(const std::string& digits, int port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(digits.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    throw CommError("'{}' is no IPv4 or IPv6 address", digits);
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  return {found->ai_addr, found->ai_addrlen};
}

TcpAddress TcpAddress::of_socket(int descriptor) {
  TcpAddress address;
  address.length_ = sizeof address.storage_;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address.storage_), &address.length_) != 0) {
    throw CommError("getsockname: {}", std::strerror(errno));
  }
  return address;
}

int TcpAddress::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
  return ntohs(reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port);
}

std::string TcpAddress::host() const {
  std::array<char, 128> text{};
  if (::getnameinfo(get(), length_, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return "?";
  return text.data();
}

bool TcpAddress::is_loopback() const {
  if (family() == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(storage_).sin_addr.s_addr) >> 24) == 127;
  }
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(storage_).sin6_addr) != 0;
}

std::vector<Interface> interfaces_up() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) throw CommError("getifaddrs: {}", std::strerror(errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, ::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const bool known = std::any_of(found.begin(), found.end(), [&](const Interface& other) {
      return other.name == entry->ifa_name;  // the first address counts: IPv4 comes first
    });
    if (!known) found.push_back({entry->ifa_name, {entry->ifa_addr, length}});
  }
  return found;
}

TcpAddress listen_address(const std::string& bind, bool one_host) {
  if (bind.empty() && one_host) return TcpAddress::parse("127.0.0.1", 0);
  const std::vector<Interface> all = interfaces_up();
  std::vector<const Interface*> outside;
  std::string choices;
  for (const Interface& candidate : all) {
    if (candidate.name == bind) return candidate.address;
    if (candidate.address.is_loopback()) continue;
    outside.push_back(&candidate);
    choices += fmt::format("{}{} ({})", choices.empty() ? "" : ", ", candidate.name, candidate.address.host());
  }
  if (bind.empty()) {
    if (outside.size() == 1) return outside[0]->address;
    throw ConfigError("transport tcp: choose the network with bind; this host has {}",
                      outside.empty() ? "no interface that is up but the loopback" : choices);
  }
  try {
    return TcpAddress::parse(bind, 0);
  } catch (const CommError&) {
    throw ConfigError("transport tcp: bind '{}' is neither an address nor an interface that is up; there are lo{}{}",
                      bind, choices.empty() ? "" : ", ", choices);
  }
}

}  // namespace eflops::comm
