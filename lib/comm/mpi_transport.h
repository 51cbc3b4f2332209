#pragma once

#include <mpi.h>

#include <memory>

#include "comm/transport.h"

namespace eflops::comm {

/// A transport over a communicator that it owns from now on. Messages travel in pieces of 60,000 bytes, below the eager
/// limit of Open MPI's tcp path, where its rendezvous would halve the speed of an exchange; waiting naps between tests,
/// so that ranks beyond the cores do not starve those that work (reference/emulation.md 1.7).
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator);

}  // namespace eflops::comm
