#include "comm/inproc_transport.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "base/error.h"
#include "comm/open_posts.h"
#include "comm/private_memory.h"
#include "comm/rank_threads.h"

namespace eflops::comm {

namespace {

/// A send that its receiver has not taken yet.
struct Offer {
  Ticket ticket = 0;
  std::span<const std::byte> bytes;
};

}  // namespace

struct InprocWorld::State {
  /// What others leave for one rank; `mutex` guards all of it.
  struct Mailbox {
    std::mutex mutex;
    std::condition_variable news;
    std::map<int, std::deque<Offer>> offers;  // by sender
    std::vector<Ticket> taken;                // own sends that their receivers have finished with
    std::string failure;
  };

  explicit State(int ranks) : boxes(static_cast<std::size_t>(ranks)) {}
  Mailbox& box(int rank) { return boxes[static_cast<std::size_t>(rank)]; }

  void fail(const std::string& reason) {
    for (Mailbox& mailbox : boxes) {
      const std::lock_guard lock(mailbox.mutex);
      if (mailbox.failure.empty()) mailbox.failure = reason;
      mailbox.news.notify_all();
    }
  }

  std::vector<Mailbox> boxes;
};

namespace {

class InprocTransport final : public Transport {
 public:
  InprocTransport(std::shared_ptr<InprocWorld::State> state, int rank)
      : state_(std::move(state)), rank_(rank), open_(rank, static_cast<int>(state_->boxes.size())) {}

  std::string_view name() const override { return "inproc"; }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(state_->boxes.size()); }

  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override { return private_memory(bytes); }
  void register_buffer(std::span<std::byte> /*buffer*/) override {}

  Ticket post_send(int peer, std::span<const std::byte> bytes) override {
    check_usable();
    const Ticket ticket = open_.add(Direction::Send, peer, static_cast<std::int64_t>(bytes.size()));
    InprocWorld::State::Mailbox& mailbox = state_->box(peer);
    const std::lock_guard lock(mailbox.mutex);
    mailbox.offers[rank_].push_back({ticket, bytes});
    mailbox.news.notify_all();
    return ticket;
  }

  Ticket post_receive(int peer, std::span<std::byte> target, Arrival arrival) override {
    check_usable();
    const Ticket ticket = open_.add(Direction::Receive, peer, static_cast<std::int64_t>(target.size()));
    wanted_[peer].push_back({ticket, target, arrival});
    return ticket;
  }

  void wait(Deadline deadline, std::vector<Ticket>& done) override {
    EFLOPS_CHECK(!open_.empty(), "rank {} waits with nothing posted", rank_);
    const std::size_t before = done.size();
    InprocWorld::State::Mailbox& mailbox = state_->box(rank_);
    std::unique_lock lock(mailbox.mutex);
    while (true) {
      if (!mailbox.failure.empty()) throw CommError("{}", open_.beside(mailbox.failure));
      for (const Ticket ticket : mailbox.taken) finish(ticket, done);
      mailbox.taken.clear();
      take_offers(lock, mailbox, done);
      if (done.size() > before) return;
      if (std::chrono::steady_clock::now() >= deadline) {
        const std::string reason = open_.oldest();
        lock.unlock();
        state_->fail(reason);
        throw TimeoutError("{}", reason);
      }
      mailbox.news.wait_until(lock, deadline);
    }
  }

  void fail(const std::string& reason) noexcept override { state_->fail(reason); }

 private:
  struct Wanted {
    Ticket ticket = 0;
    std::span<std::byte> target;
    Arrival arrival;
  };

  void check_usable() {
    InprocWorld::State::Mailbox& mailbox = state_->box(rank_);
    const std::lock_guard lock(mailbox.mutex);
    if (!mailbox.failure.empty()) throw CommError("{}", mailbox.failure);
  }

  void finish(Ticket ticket, std::vector<Ticket>& done) {
    open_.remove(ticket);
    done.push_back(ticket);
  }

  /// Moves what can be moved, without the lock, so that others may post meanwhile.
  void take_offers(std::unique_lock<std::mutex>& lock, InprocWorld::State::Mailbox& mailbox,
                   std::vector<Ticket>& done) {
    for (auto& [peer, wanted] : wanted_) {
      while (!wanted.empty() && !mailbox.offers[peer].empty()) {
        const Offer offer = mailbox.offers[peer].front();
        mailbox.offers[peer].pop_front();
        lock.unlock();
        const Wanted receive = wanted.front();
        wanted.pop_front();
        move(peer, offer, receive);
        InprocWorld::State::Mailbox& theirs = state_->box(peer);
        {
          const std::lock_guard their_lock(theirs.mutex);
          theirs.taken.push_back(offer.ticket);
          theirs.news.notify_all();
        }
        finish(receive.ticket, done);
        lock.lock();
      }
    }
  }

  void move(int peer, const Offer& offer, const Wanted& receive) {
    if (offer.bytes.size() != receive.target.size()) {
      const std::string reason = fmt::format("rank {} sends {} bytes, but rank {} expects {}", peer, offer.bytes.size(),
                                             rank_, receive.target.size());
      state_->fail(reason);
      throw CommError("{}", reason);
    }
    arrive(receive.arrival, offer.bytes, receive.target.data(), 0);
  }

  std::shared_ptr<InprocWorld::State> state_;
  int rank_;
  OpenPosts open_;
  std::map<int, std::deque<Wanted>> wanted_;  // by sender
};

}  // namespace

InprocWorld::InprocWorld(int ranks) {
  if (ranks < 1) throw ConfigError("inproc: {} is not a number of ranks; at least 1", ranks);
  state_ = std::make_shared<State>(ranks);
}

InprocWorld::~InprocWorld() = default;

std::unique_ptr<Transport> InprocWorld::transport(int rank) { return std::make_unique<InprocTransport>(state_, rank); }

void run_inproc(int ranks, const std::function<void(Transport&)>& body) {
  InprocWorld world(ranks);
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < ranks; ++rank) transports.push_back(world.transport(rank));
  run_rank_threads(
      ranks, [&](int rank) { body(*transports[static_cast<std::size_t>(rank)]); },
      [&](int rank, const std::string& text) {
        transports[static_cast<std::size_t>(rank)]->fail(fmt::format("rank {} failed: {}", rank, text));
      });
}

}  // namespace eflops::comm
