#include "bench/measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "base/error.h"
#include "base/stats.h"
#include "comm/private_memory.h"
#include "comm/small_collectives.h"

namespace eflops::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kBatch = 20;  // most iterations between two decisions to go on
constexpr std::size_t kColdBytes = std::size_t{64} << 20;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class Row {
 public:
  Row(comm::Transport& transport, comm::PreparedCollective& prepared, const RowRequest& request, bool registered)
      : transport_(transport),
        prepared_(prepared),
        request_(request),
        pattern_(request.execution.element, request.execution.reduction, request.problem),
        bytes_(request.problem.elements * kernels::bytes_of(request.execution.element)) {
    const auto buffer = [&] { return registered ? transport.allocate(bytes_) : comm::private_memory(bytes_); };
    in_ = buffer();
    out_ = request.place == Place::Out ? buffer() : in_;
    if (request.cache == Cache::Cold) cold_.resize(kColdBytes, 1);
  }

  RowResult measure() {
    const Clock::time_point begin = Clock::now();
    const Iterations& wanted = request_.iterations;
    for (std::int64_t i = 0; i < wanted.warmup; ++i) {
      iterate();
      if (agreed(seconds_since(begin) > wanted.seconds ? 1 : 0) == 1) break;
    }
    wrong_ = checked_ = 0;  // what is wrong in the warm-up is wrong in the timed iterations too, or was only warm-up
    RowResult result;
    for (std::int64_t batch = 1, taken = 0; batch > 0;) {
      const std::vector<double> mine = request_.cadence == Cadence::Isolated ? isolated(batch) : streaming(batch);
      const std::vector<std::vector<double>> all = comm::gather(transport_, mine, deadline());
      for (std::size_t i = 0; i < (all.empty() ? 0 : mine.size()); ++i) {
        double slowest = 0;
        for (const std::vector<double>& rank : all) slowest = std::max(slowest, rank[i]);
        result.seconds.push_back(slowest);
      }
      taken += static_cast<std::int64_t>(mine.size());
      batch = agreed(transport_.rank() == 0 ? next_batch(result, taken, seconds_since(begin)) : 0);
    }
    const std::array<double, 1> mine{static_cast<double>(wrong_)};
    for (const std::vector<double>& rank : comm::gather(transport_, mine, deadline())) {
      result.wrong += static_cast<std::int64_t>(rank[0]);
    }
    result.checked = checked_;
    return result;
  }

 private:
  comm::Deadline deadline() const { return comm::deadline_after(request_.timeout_s); }
  std::span<std::byte> in() const { return {in_.get(), static_cast<std::size_t>(bytes_)}; }
  std::span<std::byte> out() const { return {out_.get(), static_cast<std::size_t>(bytes_)}; }

  void prepare_data() {
    ++run_;
    if (request_.place == Place::Out) Pattern::poison(out());
    pattern_.fill(in(), transport_.rank(), run_);
    if (request_.cache == Cache::Cold) {
      for (std::size_t i = 0; i < cold_.size(); i += 64) cold_[i] = static_cast<unsigned char>(cold_[i] + 1);
    }
  }

  double timed_run() {
    const Clock::time_point begin = Clock::now();
    prepared_.run(in(), out(), deadline());
    return seconds_since(begin);
  }

  void check() {
    if (!request_.check) return;
    wrong_ += pattern_.count_wrong(out(), transport_.rank(), run_);
    ++checked_;
  }

  double iterate() {
    prepare_data();
    comm::barrier(transport_, deadline());
    const double seconds = timed_run();
    check();
    return seconds;
  }

  std::vector<double> isolated(std::int64_t count) {
    std::vector<double> seconds;
    for (std::int64_t i = 0; i < count; ++i) seconds.push_back(iterate());
    return seconds;
  }

  /// All iterations one behind the other; each counts as the mean of the batch.
  std::vector<double> streaming(std::int64_t count) {
    prepare_data();
    comm::barrier(transport_, deadline());
    const Clock::time_point begin = Clock::now();
    for (std::int64_t i = 0; i < count; ++i) prepared_.run(in(), out(), deadline());
    const double mean = seconds_since(begin) / static_cast<double>(count);
    check();
    return {mean};
  }

  /// Rank 0's number (0 to 255), on every rank.
  std::int64_t agreed(std::int64_t number) {
    std::array<std::byte, 1> byte{static_cast<std::byte>(number)};
    comm::broadcast(transport_, byte, deadline());
    return static_cast<std::int64_t>(byte[0]);
  }

  /// How many iterations come next: about a fifth of a second of them, none when it is enough.
  std::int64_t next_batch(RowResult& result, std::int64_t taken, double elapsed) const {
    const Iterations& wanted = request_.iterations;
    const double median = stats::median(result.seconds);
    const stats::Interval interval = stats::median_interval(result.seconds);
    result.is_precise = taken >= 6 && wanted.precision > 0 && interval.high - interval.low <= wanted.precision * median;
    if (taken >= wanted.most || (taken >= wanted.least && result.is_precise) || elapsed > wanted.seconds) return 0;
    const auto in_time = static_cast<std::int64_t>(std::min(0.2 / std::max(median, 1e-9), 1.0 * kBatch));
    return std::min(std::max<std::int64_t>(in_time, 1), wanted.most - taken);
  }

  comm::Transport& transport_;
  comm::PreparedCollective& prepared_;
  const RowRequest& request_;
  Pattern pattern_;
  std::int64_t bytes_;
  std::shared_ptr<std::byte> in_;
  std::shared_ptr<std::byte> out_;
  std::vector<unsigned char> cold_;
  std::int64_t run_ = 0;
  std::int64_t wrong_ = 0;
  std::int64_t checked_ = 0;
};

}  // namespace

RowResult measure(comm::Transport& transport, comm::PreparedCollective& prepared, const RowRequest& request,
                  bool registered) {
  if (request.cadence == Cadence::Streaming && request.place == Place::In) {
    throw ConfigError("cadence streaming needs place out: in place every run would change the next one's input");
  }
  EFLOPS_CHECK(request.iterations.most >= 1, "no iterations");
  Row row(transport, prepared, request, registered);
  return row.measure();
}

}  // namespace eflops::bench
