#pragma once

#include <functional>
#include <memory>

#include "comm/transport.h"

namespace eflops::comm {

/// Ranks that are threads of this process; data are moved or reduced once, straight from the sender's memory, by the
/// receiver. For tests, and for what needs ranks but no network.
class InprocWorld {
 public:
  /// ConfigError if ranks < 1.
  explicit InprocWorld(int ranks);
  ~InprocWorld();
  /// The transport of one rank, for one thread; it keeps the world alive.
  std::unique_ptr<Transport> transport(int rank);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// Runs body(transport) on `ranks` threads and joins them. The first error of a rank fails the others with its number
/// and text, and is thrown here.
void run_inproc(int ranks, const std::function<void(Transport&)>& body);

}  // namespace eflops::comm
