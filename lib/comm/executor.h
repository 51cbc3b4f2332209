#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "comm/plan.h"
#include "comm/transport.h"

namespace eflops::comm {

/// Where the memories of a plan lie, indexed by Memory; null where the plan does not use one.
using Memories = std::array<std::byte*, 4>;

/// Runs a plan over a transport, again and again. All ranks must run plans of one schedule, cut alike, in the same
/// order.
class Executor {
 public:
  /// Posts at most `window` transfers a peer and direction at a time.
  Executor(Transport& transport, Plan plan, kernels::Element element, kernels::Reduction reduction, int window = 8);

  /// Returns when this rank's part is done. CommError and TimeoutError as the transport; after one, data are undefined.
  void run(const Memories& memories, Deadline deadline);

  const Plan& plan() const { return plan_; }
  /// Payload that one run sends to other ranks.
  std::int64_t bytes_sent() const { return bytes_sent_; }

 private:
  /// The operations of one peer and direction, which are posted in order.
  struct Channel {
    std::vector<int> operations;
    std::size_t next = 0;
    int open = 0;
  };

  std::byte* at(const Memories& memories, Memory memory, std::int64_t element) const;
  /// What an operation that reduces takes beside what comes.
  const std::byte* base_of(const Memories& memories, const Operation& operation) const;
  void end(int operation);
  void do_local(const Memories& memories);
  void post(Channel& channel, const Memories& memories);

  Transport& transport_;
  Plan plan_;
  kernels::Element element_;
  kernels::Reduction reduction_;
  std::int64_t element_bytes_;
  int window_;
  std::int64_t bytes_sent_ = 0;
  std::vector<Channel> channels_;
  std::vector<int> channel_of_;  // by operation; -1 for local ones
  // The state of a run.
  std::vector<int> waits_for_;
  std::vector<int> local_ready_;
  std::vector<std::pair<Ticket, int>> posted_;
  std::vector<Ticket> done_;
  int left_ = 0;
};

}  // namespace eflops::comm
