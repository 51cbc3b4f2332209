#include "bench/bandwidth.h"

#include "base/error.h"

namespace eflops::bench {

double bus_factor(coll::Collective collective, int ranks) {
  if (ranks <= 1) return 0;
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case coll::Collective::Allreduce:
      return 2 * others;
    case coll::Collective::ReduceScatter:
    case coll::Collective::AllGather:
    case coll::Collective::AllToAll:
      return others;
    case coll::Collective::Broadcast:
      return 1;
  }
  throw InternalError("collective {} has no bus factor", static_cast<int>(collective));
}

Bandwidth bandwidth(coll::Collective collective, int ranks, std::int64_t bytes, double seconds) {
  EFLOPS_CHECK(seconds > 0, "{} seconds", seconds);
  const double algorithm = static_cast<double>(bytes) / seconds * 1e-9;
  if (ranks <= 1) return {algorithm, std::nullopt};
  return {algorithm, algorithm * bus_factor(collective, ranks)};
}

}  // namespace eflops::bench
