#pragma once

#include <string>
#include <vector>

#include "comm/transport.h"

namespace eflops::comm {

/// How ranks find each other before a transport exists (DESIGN D13): MPI in programs, threads in tests.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Every rank's text, by rank, on every rank. TimeoutError names the ranks that are missing where that is known.
  virtual std::vector<std::string> all_gather(const std::string& mine, Deadline deadline) = 0;
};

}  // namespace eflops::comm
