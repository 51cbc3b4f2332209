#pragma once

#include <mpi.h>

#include <chrono>
#include <thread>
#include <type_traits>
#include <vector>

namespace eflops::comm::test {

/// Waits for all ranks of the world without taking the processor from those that still work.
inline void napping_barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

/// Every rank's value, by rank.
template <typename T>
std::vector<T> gather_from_all(const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<T> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

}  // namespace eflops::comm::test
