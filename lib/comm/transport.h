#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/reduce.h"

namespace eflops::comm {

using Deadline = std::chrono::steady_clock::time_point;
/// The moment `seconds` from now.
Deadline deadline_after(double seconds);

/// What happens to bytes that arrive: they replace the target's, or are reduced with the elements at `base`, into the
/// target.
struct Arrival {
  bool reduces = false;
  kernels::Reduction reduction = kernels::Reduction::Sum;
  kernels::Element element = kernels::Element::U8;
  const std::byte* base = nullptr;  ///< as many bytes as the target has; null: the target itself
};

/// Does to `target`, which is `offset` bytes behind the begin of its message's target, what `arrival` says.
void arrive(const Arrival& arrival, std::span<const std::byte> bytes, std::byte* target, std::int64_t offset);

/// Names a posted operation until wait() reports it.
using Ticket = std::int64_t;

/// How ranks 0 .. size-1 move bytes. The k-th send from a to b meets the k-th receive of b from a; both must name the
/// same number of bytes, at least 1 and of whole elements. Posting never blocks. Buffers belong to the transport from
/// the post to its report. A send may wait for its receive to be posted, so a rank posts its receives without waiting
/// for its sends. All errors are CommError or TimeoutError, name the ranks, and leave the transport unusable: every
/// later call throws again. One thread per rank.
class Transport {
 public:
  virtual ~Transport() = default;

  /// "inproc", "mpi" ...
  virtual std::string_view name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Memory that this transport moves best, aligned to 64 bytes and zero; freed with the last pointer.
  virtual std::shared_ptr<std::byte> allocate(std::int64_t bytes) = 0;
  /// Tells of memory that will be used again and again, until the transport ends; a hint where nothing is gained.
  virtual void register_buffer(std::span<std::byte> buffer) = 0;

  virtual Ticket post_send(int peer, std::span<const std::byte> bytes) = 0;
  virtual Ticket post_receive(int peer, std::span<std::byte> target, Arrival arrival) = 0;
  /// Adds at least one finished ticket to `done`, or throws TimeoutError that says which operations are open and since
  /// when. With nothing posted it is an InternalError.
  virtual void wait(Deadline deadline, std::vector<Ticket>& done) = 0;
  /// Gives up: every later call of this rank, and soon of the others, throws CommError with the reason, which should
  /// name this rank. Does not throw and does not wait.
  virtual void fail(const std::string& reason) noexcept = 0;
};

}  // namespace eflops::comm
