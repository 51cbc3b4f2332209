#pragma once

#include <string>
#include <utility>
#include <vector>

#include "comm/transport.h"

namespace eflops::comm {

/// What a rank is about to do, as (name, value) in the same order on every rank: {"count", "1024"}, {"type", "f32"} ...
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Throws on every rank a CommError that names the first difference ("ranks disagree: count is 100 on rank 0 and 150 on
/// rank 1") unless the facts are the same everywhere. Rank 0 compares. The texts together must stay below 4 KiB.
void check_agreement(Transport& transport, const Facts& facts, Deadline deadline);

}  // namespace eflops::comm
