#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"

namespace eflops::data {

struct PrefetchOptions {
  std::int64_t first = 0;                                       ///< first index to make
  std::int64_t end = std::numeric_limits<std::int64_t>::max();  ///< one past the last
  std::int64_t depth = 4;                                       ///< items kept ready
  std::chrono::milliseconds timeout{600'000};                   ///< longest wait for one item
};

/// Makes make(first), make(first + 1) ... in one background thread and hands them out in that order, so that a consumer
/// rarely waits. An exception of make comes out of next() at its place in the order, and again on every later call. The
/// destructor drops what is ready and waits for the make in progress. next() is for one thread.
template <typename Item>
class Prefetcher {
 public:
  using Make = std::function<Item(std::int64_t index)>;

  explicit Prefetcher(Make make, PrefetchOptions options = {}) : make_(std::move(make)), options_(options) {
    EFLOPS_CHECK(options_.depth > 0, "a prefetcher of depth {}", options_.depth);
    thread_ = std::jthread([this](std::stop_token stop) { produce(stop); });
  }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// The next item. TimeoutError when it is not there within the timeout; InternalError beyond the last one.
  Item next() {
    EFLOPS_CHECK(next_ < options_.end, "item {} of a prefetcher that ends at {}", next_, options_.end);
    const Stopwatch watch;
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, options_.timeout, [&] { return !ready_.empty() || failure_; });
    waited_seconds_ += watch.seconds();
    if (!came)
      throw TimeoutError("item {} of the data loader was not ready within {} ms", next_, options_.timeout.count());
    if (ready_.empty()) std::rethrow_exception(failure_);
    Item item = std::move(ready_.front());
    ready_.pop_front();
    ++next_;
    lock.unlock();
    changed_.notify_all();
    return item;
  }

  /// Seconds that next() has waited so far, all calls together. For the thread that calls next().
  double waited_seconds() const { return waited_seconds_; }

 private:
  void produce(const std::stop_token& stop) {
    try {
      for (std::int64_t index = options_.first; index < options_.end; ++index) {
        std::unique_lock lock(mutex_);
        // A consumer may be away for any time (evaluation, a checkpoint); the destructor ends this wait.
        const bool room = changed_.wait(lock, stop, [&] { return std::cmp_less(ready_.size(), options_.depth); });
        if (!room || stop.stop_requested()) return;
        lock.unlock();
        Item item = make_(index);
        lock.lock();
        ready_.push_back(std::move(item));
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  Make make_;
  PrefetchOptions options_;
  std::mutex mutex_;  ///< guards ready_ and failure_
  std::condition_variable_any changed_;
  std::deque<Item> ready_;
  std::exception_ptr failure_;
  std::int64_t next_ = options_.first;
  double waited_seconds_ = 0;
  std::jthread thread_;  ///< last: joined before the rest goes
};

}  // namespace eflops::data
