#pragma once

#include <cstdint>

namespace eflops::programs {

/// Where no launcher has started this process and more than one rank is wanted: becomes `mpirun -n ranks` of the same
/// command line and does not return. 0 ranks: one for each usable core, at least 2. CommError if mpirun cannot be run.
void launch_ranks_unless_launched(std::int64_t ranks);

}  // namespace eflops::programs
