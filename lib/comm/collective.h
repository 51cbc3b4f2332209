#pragma once

#include <memory>
#include <span>
#include <string>

#include "coll/algorithms.h"
#include "coll/rank_map.h"
#include "comm/executor.h"

namespace eflops::comm {

/// One collective of one size, ready to run many times.
class PreparedCollective {
 public:
  virtual ~PreparedCollective() = default;
  /// The algorithm that runs, e.g. "ring".
  virtual std::string algorithm() const = 0;
  /// Does it once: `in` is what this rank contributes and `out` its result, both of the problem's elements in whole
  /// buffers (coll::Problem); for an in-place run they are the same memory, else they do not overlap. `in` is not
  /// changed unless it is `out`. CommError, TimeoutError: as the transport.
  virtual void run(std::span<const std::byte> in, std::span<std::byte> out, Deadline deadline) = 0;
};

/// How a schedule is carried out.
struct Execution {
  kernels::Element element = kernels::Element::F32;
  kernels::Reduction reduction = kernels::Reduction::Sum;
  /// Transfers are cut into segments of this many bytes, which advance by themselves; 0: whole.
  std::int64_t segment_bytes = 256 << 10;
};

/// A schedule on a transport (DESIGN D2). `map` says which process runs each rank of the schedule; the root of a
/// broadcast is a process. ConfigError if the algorithm refuses the problem.
std::unique_ptr<PreparedCollective> prepare_scheduled(Transport& transport, const coll::Algorithm& algorithm,
                                                      coll::Problem problem, const coll::RankMap& map,
                                                      const Execution& execution);

}  // namespace eflops::comm
