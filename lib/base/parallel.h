#pragma once

#include <cstdint>
#include <functional>

namespace eflops {

/// The one thread pool of the process (DESIGN D12): OpenMP, or std::thread in the tsan preset. set_thread_count may not
/// be called from inside a parallel loop.
int thread_count();
void set_thread_count(int threads);

/// Runs body(begin, end) over disjoint ranges that cover [0, count). Ranges are multiples of `grain` except the last,
/// so a result that depends only on its block index does not depend on the number of threads. Runs inline when count <=
/// grain, and inside another loop. The first exception of a body is thrown here.
void parallel_for(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body);

/// Sets flush-to-zero and denormals-are-zero in every thread of the pool, so that all threads round alike (DESIGN D5).
void flush_denormals();

}  // namespace eflops
