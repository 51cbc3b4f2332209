#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

namespace eflops::comm {

/// An IPv4 or IPv6 address with a port.
class TcpAddress {
 public:
  TcpAddress() = default;
  TcpAddress(const sockaddr* address, socklen_t length);
  /// From digits, "10.0.0.1" or "fe80::1"; CommError if it is neither.
  static TcpAddress parse(const std::string& digits, int port);
  /// The local end of a socket.
  static TcpAddress of_socket(int descriptor);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }
  int family() const { return storage_.ss_family; }
  int port() const;
  /// Digits without the port.
  std::string host() const;
  bool is_loopback() const;

 private:
  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

/// A network interface that is up, and one of its addresses.
struct Interface {
  std::string name;
  TcpAddress address;
};
std::vector<Interface> interfaces_up();

/// Where to listen. `bind` is an address, an interface's name, or empty: the loopback for ranks of one host, else the
/// only interface that is up beside it. ConfigError with the choices if there are several or none.
TcpAddress listen_address(const std::string& bind, bool one_host);

}  // namespace eflops::comm
