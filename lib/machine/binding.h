#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace eflops::machine {

/// What is wrong with running `threads` threads here, as one line that ends with what mends it; empty when nothing is:
/// threads bound to fewer cores than they are, a container's quota below them, more threads than cores (DESIGN D12).
std::string binding_problem(const Machine& machine, int threads);

/// How the threads are placed, for records: "2 threads on 2 of 2 cores", with OMP_PROC_BIND and OMP_PLACES where set.
std::string placement(const Machine& machine, int threads);

/// A set of cores to measure on, one thread each.
struct Scope {
  std::vector<std::string> names;  ///< "core", "socket", "all"; several where they are the same cores
  std::vector<int> cores;          ///< hardware threads, by the system's numbers
};

/// One core, the cores of the first socket, all usable cores; equal ones are one scope with several names.
std::vector<Scope> measuring_scopes(const Topology& topology);

/// Sets the thread count of base/parallel.h to that of `cores` and binds each thread to one of them while it lives;
/// then restores count and bindings. Not from inside a parallel loop. DataError when the system refuses.
class PoolBinding {
 public:
  explicit PoolBinding(const std::vector<int>& cores);
  ~PoolBinding();
  PoolBinding(const PoolBinding&) = delete;
  PoolBinding& operator=(const PoolBinding&) = delete;

 private:
  struct Former;
  void restore();

  std::unique_ptr<Former> former_;
};

}  // namespace eflops::machine
