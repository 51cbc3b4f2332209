#pragma once

#include <cstdint>

namespace eflops::programs {

/// Where no launcher has started this process and more than one rank or launch is wanted: runs `mpirun -n ranks` of the
/// same command line, `launches` times one after the other, and ends with its exit status: the first that is not 0. 0
/// ranks: one for each usable core, at least 2. CommError if mpirun cannot be run.
void launch_ranks_unless_launched(std::int64_t ranks, std::int64_t launches);

}  // namespace eflops::programs
