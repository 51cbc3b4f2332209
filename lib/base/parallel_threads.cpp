#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/parallel.h"

// ThreadSanitizer does not see libgomp's barriers, so its preset starts std::threads for each loop instead.
namespace eflops {
namespace {

std::atomic<int> threads_wanted{0};
std::atomic<bool> denormals_flushed{false};
thread_local bool inside_loop = false;

void flush_here() {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _mm_setcsr(_mm_getcsr() | 0x0040U);
}

}  // namespace

int thread_count() {
  const int wanted = threads_wanted;
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void set_thread_count(int threads) { threads_wanted = std::max(1, threads); }

void parallel_for(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t blocks = (count + grain - 1) / grain;
  const std::int64_t team = std::min<std::int64_t>(blocks, thread_count());
  if (team <= 1 || inside_loop) {
    body(0, count);
    return;
  }
  std::exception_ptr failure;
  std::mutex failure_mutex;
  std::vector<std::jthread> threads;
  for (std::int64_t rank = 0; rank < team; ++rank) {
    threads.emplace_back([&, rank] {
      if (denormals_flushed) flush_here();
      inside_loop = true;
      try {
        const std::int64_t begin = blocks * rank / team * grain;
        const std::int64_t end = std::min(count, blocks * (rank + 1) / team * grain);
        if (begin < end) body(begin, end);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
      }
    });
  }
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

void flush_denormals() {
  denormals_flushed = true;
  flush_here();
}

}  // namespace eflops
