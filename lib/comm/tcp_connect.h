#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/bootstrap.h"

namespace eflops::comm {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return number_; }

 private:
  int number_ = -1;
};

/// How ranks meet over TCP.
struct TcpOptions {
  std::string bind = {};  ///< address or interface to listen on and to connect from; empty: see listen_address
  int streams = 1;        ///< connections for data between each two ranks
  double timeout_s = 30;
};

/// The connections with one other rank, non-blocking, without Nagle's delay.
struct TcpLinks {
  std::vector<Descriptor> data;
  Descriptor control;
};

/// Connects all ranks with each other; by rank, empty for this one. Every connection must begin with the token that
/// rank 0 drew and the bootstrap spread, the world's size and the caller's rank and stream: others are closed, and
/// counted in `strangers` if given. ConfigError for an address that does not serve, CommError if descriptors do not
/// suffice, if an address is a loopback between hosts, or if a rank cannot be reached; TimeoutError names the missing
/// ranks.
std::vector<TcpLinks> connect_all(Bootstrap& bootstrap, const TcpOptions& options, int* strangers = nullptr);

}  // namespace eflops::comm
