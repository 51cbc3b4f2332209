#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm/transport.h"

namespace eflops::comm {

// What a program needs beside the collective it measures: short messages, straight on the transport. All ranks call
// them in the same order, with nothing else posted.

/// Returns when every rank has called it: ceil(log2 p) rounds (dissemination).
void barrier(Transport& transport, Deadline deadline);
/// The bytes of every rank on rank 0, by rank, all of the same length; nothing on the others.
std::vector<std::vector<std::byte>> gather(Transport& transport, std::span<const std::byte> mine, Deadline deadline);
/// Rank 0's bytes on every rank, of a length all know.
void broadcast(Transport& transport, std::span<std::byte> bytes, Deadline deadline);

/// gather for numbers.
std::vector<std::vector<double>> gather(Transport& transport, std::span<const double> mine, Deadline deadline);

}  // namespace eflops::comm
