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

Collective collective_named(std::string_view name) {
  std::string with_dashes(name);
  std::ranges::replace(with_dashes, '_', '-');
  std::string known;
  for (const Collective collective : kCollectives) {
    if (collective_name(collective) == with_dashes) return collective;
    known += fmt::format(" {}", collective_name(collective));
  }
  throw ConfigError("'{}' is no collective; there are{}", name, known);
}

Range block_of(Range range, std::int64_t parts, std::int64_t index) {
  EFLOPS_CHECK(parts > 0 && index >= 0 && index < parts, "part {} of {}", index, parts);
  const std::int64_t small = range.size() / parts;
  const std::int64_t larger = range.size() % parts;
  const std::int64_t begin = range.begin + index * small + std::min(index, larger);
  return {begin, begin + small + (index < larger ? 1 : 0)};
}

}  // namespace eflops::coll
