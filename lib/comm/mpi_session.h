#pragma once

#include <memory>
#include <string>

#include "comm/bootstrap.h"
#include "comm/transport.h"

namespace eflops::comm {

/// MPI_Init to MPI_Finalize (DESIGN D13): one per process, made by the main thread, which alone may use MPI.
class MpiSession {
 public:
  /// CommError if MPI cannot start, or if the launcher's environment speaks of more ranks than MPI sees: a program that
  /// found no common launcher would run alone, N times.
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// "Open MPI v4.1.4".
  static std::string library();
  /// A transport among ranks 0 .. ranks-1 of the world, with messages of its own; all ranks of the world must call it,
  /// and those beyond get null.
  std::unique_ptr<Transport> transport(int ranks);
  std::unique_ptr<Transport> transport() { return transport(size_); }
  /// What other transports among ranks 0 .. ranks-1 start with; collective and null as above. It must go before the
  /// session.
  std::unique_ptr<Bootstrap> bootstrap(int ranks);
  /// Prints one line with the rank to stderr and ends the job, all ranks of it, with this exit status; a moment later,
  /// so that the other ranks' lines come out too.
  [[noreturn]] void abort(int status, const std::string& reason);

 private:
  int rank_ = 0;
  int size_ = 1;
};

/// How many ranks the environment of this process promises (Open MPI, PMI, Slurm), with the variable that says so in
/// `source`; 0 if none does.
int promised_ranks(std::string& source);

}  // namespace eflops::comm
