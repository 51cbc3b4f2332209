#pragma once

#include <mpi.h>

#include <string>

namespace eflops::comm {

/// CommError with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);
std::string mpi_text(int code);

}  // namespace eflops::comm
