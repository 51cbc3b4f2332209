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

/// What all candidates share.
struct Buffers {
  Buffers(comm::Transport& transport, std::span<const Candidate> candidates, bool registered) {
    const auto any = [&](const auto& condition) {
      return std::ranges::any_of(candidates, [&](const Candidate& one) { return condition(one.request); });
    };
    const RowRequest& first = candidates.front().request;
    bytes = first.problem.elements * kernels::bytes_of(first.execution.element);
    const auto buffer = [&] { return registered ? transport.allocate(bytes) : comm::private_memory(bytes); };
    in = buffer();
    if (any([](const RowRequest& row) { return row.place == Place::Out; })) out = buffer();
    if (any([](const RowRequest& row) { return row.cache == Cache::Cold; })) cold.resize(kColdBytes, 1);
  }

  std::int64_t bytes = 0;
  std::shared_ptr<std::byte> in;
  std::shared_ptr<std::byte> out;
  std::vector<unsigned char> cold;
  std::int64_t run = 0;  // its number makes the data: no two runs in these buffers have the same
};

class Row {
 public:
  Row(comm::Transport& transport, const Candidate& candidate, Buffers& buffers)
      : transport_(transport),
        prepared_(*candidate.prepared),
        request_(candidate.request),
        pattern_(request_.execution.element, request_.execution.reduction, request_.problem),
        buffers_(buffers) {}

  void warm_up() {
    const Clock::time_point begin = Clock::now();
    for (std::int64_t i = 0; i < request_.iterations.warmup; ++i) {
      iterate();
      if (agreed(seconds_since(begin) > request_.iterations.seconds ? 1 : 0) == 1) break;
    }
    wrong_ = checked_ = 0;  // what is wrong in the warm-up is wrong in the timed iterations too, or was only warm-up
    elapsed_ = seconds_since(begin);
  }

  bool is_done() const { return batch_ == 0; }

  void take_batch() {
    const Clock::time_point begin = Clock::now();
    const std::vector<double> mine = request_.cadence == Cadence::Isolated ? isolated(batch_) : streaming(batch_);
    const std::vector<std::vector<double>> all = comm::gather(transport_, mine, deadline());
    for (std::size_t i = 0; i < (all.empty() ? 0 : mine.size()); ++i) {
      double slowest = 0;
      for (const std::vector<double>& rank : all) slowest = std::max(slowest, rank[i]);
      result_.seconds.push_back(slowest);
    }
    taken_ += static_cast<std::int64_t>(mine.size());
    elapsed_ += seconds_since(begin);
    batch_ = agreed(transport_.rank() == 0 ? next_batch() : 0);
  }

  RowResult result() {
    const std::array<double, 1> mine{static_cast<double>(wrong_)};
    for (const std::vector<double>& rank : comm::gather(transport_, mine, deadline())) {
      result_.wrong += static_cast<std::int64_t>(rank[0]);
    }
    result_.checked = checked_;
    return result_;
  }

 private:
  comm::Deadline deadline() const { return comm::deadline_after(request_.timeout_s); }
  std::span<std::byte> in() const { return {buffers_.in.get(), static_cast<std::size_t>(buffers_.bytes)}; }
  std::span<std::byte> out() const {
    const std::shared_ptr<std::byte>& buffer = request_.place == Place::Out ? buffers_.out : buffers_.in;
    return {buffer.get(), static_cast<std::size_t>(buffers_.bytes)};
  }

  void prepare_data() {
    ++buffers_.run;
    if (request_.place == Place::Out) Pattern::poison(out());
    pattern_.fill(in(), transport_.rank(), buffers_.run);
    if (request_.cache == Cache::Cold) {
      std::vector<unsigned char>& cold = buffers_.cold;
      for (std::size_t i = 0; i < cold.size(); i += 64) cold[i] = static_cast<unsigned char>(cold[i] + 1);
    }
  }

  double timed_run() {
    const Clock::time_point begin = Clock::now();
    prepared_.run(in(), out(), deadline());
    return seconds_since(begin);
  }

  void check() {
    if (!request_.check) return;
    wrong_ += pattern_.count_wrong(out(), transport_.rank(), buffers_.run);
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
  std::int64_t next_batch() {
    const Iterations& wanted = request_.iterations;
    const double median = stats::median(result_.seconds);
    const stats::Interval interval = stats::median_interval(result_.seconds);
    result_.is_precise =
        taken_ >= 6 && wanted.precision > 0 && interval.high - interval.low <= wanted.precision * median;
    if (taken_ >= wanted.most || (taken_ >= wanted.least && result_.is_precise) || elapsed_ > wanted.seconds) return 0;
    const auto in_time = static_cast<std::int64_t>(std::min(0.2 / std::max(median, 1e-9), 1.0 * kBatch));
    return std::min(std::max<std::int64_t>(in_time, 1), wanted.most - taken_);
  }

  comm::Transport& transport_;
  comm::PreparedCollective& prepared_;
  const RowRequest& request_;
  Pattern pattern_;
  Buffers& buffers_;
  RowResult result_;
  std::int64_t batch_ = 1;  // iterations of the next turn
  std::int64_t taken_ = 0;
  double elapsed_ = 0;  // in this row's turns
  std::int64_t wrong_ = 0;
  std::int64_t checked_ = 0;
};

void check(std::span<const Candidate> candidates) {
  for (const Candidate& one : candidates) {
    if (one.request.cadence == Cadence::Streaming && one.request.place == Place::In) {
      throw ConfigError("cadence streaming needs place out: in place every run would change the next one's input");
    }
    EFLOPS_CHECK(one.request.iterations.most >= 1, "no iterations");
    const RowRequest& first = candidates.front().request;
    EFLOPS_CHECK(one.request.problem.elements == first.problem.elements &&
                     one.request.execution.element == first.execution.element,
                 "candidates of different problems");
  }
}

}  // namespace

std::vector<RowResult> measure(comm::Transport& transport, std::span<const Candidate> candidates, bool registered) {
  if (candidates.empty()) return {};
  check(candidates);
  Buffers buffers(transport, candidates, registered);
  std::vector<Row> rows;
  for (const Candidate& one : candidates) rows.emplace_back(transport, one, buffers);
  for (Row& row : rows) row.warm_up();
  const auto is_done = [](const Row& row) { return row.is_done(); };
  while (!std::ranges::all_of(rows, is_done)) {
    for (Row& row : rows) {
      if (!row.is_done()) row.take_batch();
    }
  }
  std::vector<RowResult> results;
  for (Row& row : rows) results.push_back(row.result());
  return results;
}

}  // namespace eflops::bench
