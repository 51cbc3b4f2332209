#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <exception>
#include <mutex>

#include "base/parallel.h"

namespace eflops {

int thread_count() { return omp_get_max_threads(); }

void set_thread_count(int threads) { omp_set_num_threads(std::max(1, threads)); }

void parallel_for(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t blocks = (count + grain - 1) / grain;
  const int threads = static_cast<int>(std::min<std::int64_t>(blocks, omp_get_max_threads()));
  if (threads <= 1 || omp_in_parallel() != 0) {
    body(0, count);
    return;
  }
  std::exception_ptr failure;
  std::mutex failure_mutex;
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t rank = omp_get_thread_num();
    const std::int64_t team = omp_get_num_threads();
    const std::int64_t begin = blocks * rank / team * grain;
    const std::int64_t end = std::min(count, blocks * (rank + 1) / team * grain);
    try {
      if (begin < end) body(begin, end);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void flush_denormals() {
#pragma omp parallel
  {
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _mm_setcsr(_mm_getcsr() | 0x0040U);  // denormals are zero
  }
}

}  // namespace eflops
