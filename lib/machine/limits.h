#pragma once

#include <cstdint>
#include <string>

namespace eflops::machine {

/// What the system allows this process.
struct Limits {
  static constexpr std::int64_t kUnlimited = -1;
  std::int64_t locked_memory_bytes = kUnlimited;  ///< RLIMIT_MEMLOCK: RDMA buffers are pinned (C41)
  std::int64_t open_files = kUnlimited;           ///< RLIMIT_NOFILE
  double cpu_quota = 0;                           ///< cores a container may use, 0 without a quota
};

/// The limits in force now, soft ones of getrlimit and the quota of the process's control group (version 1 or 2).
Limits read_limits();

/// The quota in cores that the text of a version 2 `cpu.max` states ("150000 100000" is 1.5); 0 for "max" or nonsense.
double parse_cpu_max(const std::string& text);

}  // namespace eflops::machine
