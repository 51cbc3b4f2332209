#include "comm/rank_threads.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace eflops::comm {

void run_rank_threads(int ranks, const std::function<void(int)>& body,
                      const std::function<void(int, const std::string&)>& on_error) {
  std::mutex mutex;
  std::exception_ptr first;  // guarded by mutex
  const auto failed = [&](int rank, const std::string& text) {
    {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
    on_error(rank, text);
  };
  const auto run = [&](int rank) {
    try {
      body(rank);
    } catch (const std::exception& error) {
      failed(rank, error.what());
    } catch (...) {
      failed(rank, "an exception of unknown type");
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 1; rank < ranks; ++rank) threads.emplace_back(run, rank);
  run(0);
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace eflops::comm
