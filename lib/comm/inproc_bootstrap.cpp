#include "comm/inproc_bootstrap.h"

#include <condition_variable>
#include <mutex>

#include "base/error.h"
#include "comm/rank_threads.h"

namespace eflops::comm {
namespace {

/// What the ranks of one gathering share; `mutex` guards all of it.
struct Board {
  std::mutex mutex;
  std::condition_variable news;
  std::vector<std::string> texts;
  std::vector<bool> written;
  int present = 0;
  int round = 0;
  std::vector<std::string> last;  // what the round before gathered
  int failed_rank = -1;

  void fail(int rank) {
    const std::lock_guard lock(mutex);
    failed_rank = rank;
    news.notify_all();
  }
};

class ThreadBootstrap final : public Bootstrap {
 public:
  ThreadBootstrap(Board& board, int rank, int size) : board_(board), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::string> all_gather(const std::string& mine, Deadline deadline) override {
    std::unique_lock lock(board_.mutex);
    const int round = board_.round;
    board_.texts[static_cast<std::size_t>(rank_)] = mine;
    board_.written[static_cast<std::size_t>(rank_)] = true;
    if (++board_.present == size_) {
      board_.last = board_.texts;
      board_.written.assign(board_.written.size(), false);
      board_.present = 0;
      ++board_.round;
      board_.news.notify_all();
      return board_.last;
    }
    while (board_.round == round) {
      if (board_.failed_rank >= 0) throw CommError("rank {} failed before all had started", board_.failed_rank);
      if (board_.news.wait_until(lock, deadline) == std::cv_status::timeout && board_.round == round) {
        std::string missing;
        for (int rank = 0; rank < size_; ++rank) {
          if (!board_.written[static_cast<std::size_t>(rank)]) missing += fmt::format(" {}", rank);
        }
        throw TimeoutError("rank {} waited in vain for the addresses of rank{}", rank_, missing);
      }
    }
    return board_.last;
  }

 private:
  Board& board_;
  int rank_;
  int size_;
};

}  // namespace

void run_bootstraps(int ranks, const std::function<void(Bootstrap&)>& body,
                    const std::function<void(int, const std::string&)>& on_error) {
  Board board;
  board.texts.resize(static_cast<std::size_t>(ranks));
  board.written.resize(static_cast<std::size_t>(ranks), false);
  run_rank_threads(
      ranks,
      [&](int rank) {
        ThreadBootstrap bootstrap(board, rank, ranks);
        body(bootstrap);
      },
      [&](int rank, const std::string& text) {
        board.fail(rank);
        if (on_error) on_error(rank, text);
      });
}

void run_threads(int ranks, const TransportMaker& make, const std::function<void(Transport&)>& body) {
  std::vector<std::unique_ptr<Transport>> transports(static_cast<std::size_t>(ranks));
  run_bootstraps(
      ranks,
      [&](Bootstrap& bootstrap) {
        std::unique_ptr<Transport>& transport = transports[static_cast<std::size_t>(bootstrap.rank())];
        transport = make(bootstrap);
        body(*transport);
      },
      [&](int rank, const std::string& text) {
        Transport* const transport = transports[static_cast<std::size_t>(rank)].get();
        if (transport != nullptr) transport->fail(fmt::format("rank {} failed: {}", rank, text));
      });
}

}  // namespace eflops::comm
