#pragma once

#include <memory>
#include <string_view>

#include "comm/collective.h"

namespace eflops::comm {

/// The name of the algorithm in tables and records.
inline constexpr std::string_view kOnePass = "one-pass";

/// Whether the ranks of this transport see each other's memory, which one-pass needs.
bool can_one_pass(const Transport& transport);

/// Allreduce by ranks that see each other's memory: every element is read once from each rank and written once to each,
/// 2 p n bytes in all for p ranks of n bytes, which no schedule of pairwise messages reaches.
///
/// Memory of allocate() on all ranks: each rank reduces its block of all inputs straight into all outputs. Other
/// memory, and small data: every rank shows its data piece by piece and reduces everybody's by itself, without a second
/// meeting. Inputs are taken in the order of ranks, so all ranks get the same bits; 16-bit floats are rounded once.
/// ConfigError for a transport that cannot.
std::unique_ptr<PreparedCollective> prepare_one_pass_allreduce(Transport& transport, const coll::Problem& problem,
                                                               const Execution& execution);

}  // namespace eflops::comm
