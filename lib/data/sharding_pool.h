#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace eflops::data {

struct PoolOptions {
  std::int64_t processes = 1;          ///< 1: in this process
  std::chrono::seconds deadline{600};  ///< longest wait for any one result
};

/// What map_in_processes works on. Jobs and results are byte strings, since they travel between processes.
struct PoolWork {
  std::function<bool(std::string& job)> produce;          ///< the next job, false at the end; called here
  std::function<std::string(std::string_view job)> work;  ///< pure; called in a worker process
  std::function<void(std::string_view result)> consume;   ///< in the order of the jobs; called here
};

/// Maps jobs to results in forked worker processes. At most 2 * processes + 2 jobs are under way, so memory does not
/// grow with their number, and neither the results nor their order depend on the number of processes. An error thrown
/// by `work` is thrown here when its turn comes. DataError when a worker dies, TimeoutError when it stands still,
/// InterruptedError when base/stop_signal.h has seen a signal. No worker outlives the call. The caller must be
/// single-threaded while this runs.
void map_in_processes(const PoolOptions& options, const PoolWork& work);

}  // namespace eflops::data
