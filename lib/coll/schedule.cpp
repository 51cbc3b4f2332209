#include "coll/schedule.h"

#include <algorithm>

#include "base/error.h"

namespace eflops::coll {

std::string_view collective_name(Collective collective) {
  switch (collective) {
    case Collective::Allreduce:
      return "allreduce";
    case Collective::ReduceScatter:
      return "reduce-scatter";
    case Collective::AllGather:
      return "all-gather";
    case Collective::Broadcast:
      return "broadcast";
    case Collective::AllToAll:
      return "alltoall";
  }
  throw InternalError("collective {} has no name", static_cast<int>(collective));
}

Range block_of(Range range, std::int64_t parts, std::int64_t index) {
  EFLOPS_CHECK(parts > 0 && index >= 0 && index < parts, "part {} of {}", index, parts);
  const std::int64_t small = range.size() / parts;
  const std::int64_t larger = range.size() % parts;
  const std::int64_t begin = range.begin + index * small + std::min(index, larger);
  return {begin, begin + small + (index < larger ? 1 : 0)};
}

}  // namespace eflops::coll
