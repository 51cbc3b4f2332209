#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/limits.h"
#include "machine/topology.h"

namespace eflops::machine {

/// What the process can see of the computer it runs on. What the system does not tell is 0 or empty, never guessed.
struct Machine {
  std::string host;
  std::string kernel;  ///< "Linux 6.1.0-18-amd64 x86_64"
  std::string cpu;     ///< the vendor's model name
  Topology topology;
  std::vector<std::string> isa;  ///< those of avx2, fma, avx512*, amx_* the CPU has, as the kernel spells them
  std::string governor;          ///< frequency governor of the first core; empty where there is none
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_available_bytes = 0;
  double load = 0;  ///< load average of the last minute
  Limits limits;

  /// True when the CPU computes on bf16 by itself, by AVX512-BF16 or AMX (DESIGN D5).
  bool has_native_bf16() const;
};

/// The name of this host; "?" where the system does not tell it.
std::string host_name();

/// Looks at the machine now; takes some 10 ms. DataError when its topology cannot be read at all.
Machine inspect();

/// Bytes that a program could still take, now; 0 if the system does not tell.
std::uint64_t available_memory_bytes();

/// Names the network that this process sees: the host, and its network name space where there are several.
std::string network_name();

/// Load average of the last minute, now.
double load_average();

}  // namespace eflops::machine
