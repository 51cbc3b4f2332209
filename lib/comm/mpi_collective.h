#pragma once

#include <memory>

#include "comm/collective.h"

namespace eflops::comm {

/// MPI_Allreduce of the MPI library over the world, as a peer of our schedules: blocking, with the algorithm that the
/// library chooses. bf16 and f16, which MPI has no types for, are added by our kernels in a user-defined operation; an
/// average is the sum, divided by us. MPI must be initialised (MpiSession). Where a run passes its deadline the process
/// ends with exit code 5: MPI cannot be called off.
std::unique_ptr<PreparedCollective> prepare_mpi_allreduce(const coll::Problem& problem, const Execution& execution);

}  // namespace eflops::comm
