#include "machine/bandwidth.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"

namespace eflops::machine {
namespace {

constexpr double kScale = 3.0;
constexpr std::int64_t kMinMegabytes = 64;
constexpr std::int64_t kElementsPerMegabyte = 125'000;

// Memory that is not touched on allocation, so that each page lies near the thread that writes it first.
using Array = std::unique_ptr<double[]>;
Array untouched(std::int64_t count) {
  return std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(count));
}

BandwidthResult measure(const Scope& scope, std::int64_t count, std::int64_t repeats) {
  const PoolBinding bound(scope.cores);
  const std::int64_t share = (count + std::ssize(scope.cores) - 1) / std::ssize(scope.cores);
  const Array arrays[] = {untouched(count), untouched(count), untouched(count)};
  double* const a = arrays[0].get();
  double* const b = arrays[1].get();
  double* const c = arrays[2].get();
  parallel_for(count, share, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      a[i] = 0.0;
      b[i] = 1.0;
      c[i] = 2.0;
    }
  });
  BandwidthResult result{
      .scope = scope, .array_bytes = static_cast<std::uint64_t>(count) * sizeof(double), .samples = {}};
  for (std::int64_t pass = -1; pass < repeats; ++pass) {
    // Another value each pass, so that a pass that did nothing is seen.
    const double scale = kScale + static_cast<double>(pass);
    const Stopwatch watch;
    parallel_for(count, share, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + scale * c[i];
    });
    const double seconds = watch.seconds();
    const double expected = 1.0 + scale * 2.0;
    for (const std::int64_t i : {std::int64_t{0}, count / 2, count - 1})
      if (a[i] != expected) throw CheckFailed("bandwidth: element {} is {}, not {}", i, a[i], expected);
    if (pass >= 0) result.samples.push_back(3.0 * static_cast<double>(result.array_bytes) / seconds * 1e-9);
  }
  return result;
}

}  // namespace

std::vector<BandwidthResult> measure_bandwidth(const Machine& machine, const BandwidthRequest& request) {
  const auto caches = static_cast<std::int64_t>(machine.topology.last_level_cache_bytes() / 1'000'000);
  const std::int64_t megabytes = request.megabytes > 0 ? request.megabytes : std::max(kMinMegabytes, 4 * caches);
  const auto available = static_cast<std::int64_t>(machine.memory_available_bytes / 1'000'000);
  if (megabytes > available / 12)
    throw DataError("bandwidth: three arrays of {} MB do not fit in a quarter of the {} MB available", megabytes,
                    available);
  std::vector<BandwidthResult> results;
  for (const Scope& scope : measuring_scopes(machine.topology))
    results.push_back(measure(scope, megabytes * kElementsPerMegabyte, request.repeats));
  return results;
}

}  // namespace eflops::machine
