#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eflops::machine {

/// All caches of one level and kind.
struct Cache {
  int level = 0;
  std::string kind;         ///< "data", "instruction", "unified"
  std::uint64_t bytes = 0;  ///< of one of them
  int count = 0;
};

/// The tree of the hardware, as hwloc sees it. Counts are of what exists.
struct Topology {
  int sockets = 0;
  int numa_nodes = 0;
  int cores = 0;
  int hardware_threads = 0;
  std::vector<Cache> caches;
  /// Per socket, one entry per core this process may run on: the system's number of a usable hardware thread of it.
  std::vector<std::vector<int>> usable_cores;

  int usable_core_count() const;
  /// Sum over the caches of the last level.
  std::uint64_t last_level_cache_bytes() const;
};

/// Reads the tree now, with the binding of the pool's threads; not from inside a parallel loop. DataError when the
/// system tells nothing.
Topology read_topology();

}  // namespace eflops::machine
