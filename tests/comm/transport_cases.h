#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "comm/transport.h"

namespace eflops::comm::test {

/// A transport under test: runs body on every one of `ranks` ranks and throws what the first failing rank threw.
struct TransportCase {
  std::string name;
  std::function<void(int ranks, const std::function<void(Transport&)>& body)> run;
};

inline std::ostream& operator<<(std::ostream& stream, const TransportCase& tested) { return stream << tested.name; }

/// The transports of this test program: those whose ranks can be threads of one process (inproc_cases.cpp), or MPI
/// (tests/mpi). The same suites run on all; a new transport adds its line there.
std::vector<TransportCase> transport_cases();

inline std::string name_of(const testing::TestParamInfo<TransportCase>& info) { return info.param.name; }

}  // namespace eflops::comm::test
