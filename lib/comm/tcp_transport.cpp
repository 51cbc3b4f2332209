#include "comm/tcp_transport.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/error.h"
#include "comm/open_posts.h"
#include "comm/private_memory.h"
#include "comm/tcp_stream.h"

namespace eflops::comm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kReasonBytes = 512;
constexpr int kSpins = 30;        // looks before sleeping in poll, where every rank has a core
constexpr int kLongestPoll = 50;  // milliseconds
using Reason = std::array<char, kReasonBytes>;
using Messages = std::vector<std::shared_ptr<TcpMessage>>;

struct Peer {
  TcpLinks links;
  std::vector<TcpStream> streams;
  std::size_t next_send = 0;  // the stream that carries the next piece
  std::size_t next_receive = 0;
  Reason reason{};
  std::size_t reason_received = 0;
  bool has_left = false;  // its control connection is closed

  bool is_busy() const {
    return std::any_of(streams.begin(), streams.end(),
                       [](const TcpStream& s) { return s.wants_to_send() || s.wants_to_receive(); });
  }
};

class TcpTransport final : public Transport {
 public:
  TcpTransport(Bootstrap& bootstrap, const TcpOptions& options)
      : rank_(bootstrap.rank()), open_(rank_, bootstrap.size()), peers_(static_cast<std::size_t>(bootstrap.size())) {
    std::vector<TcpLinks> links = connect_all(bootstrap, options);
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      peers_[peer].links = std::move(links[peer]);
      for (const Descriptor& descriptor : peers_[peer].links.data) peers_[peer].streams.emplace_back(descriptor.get());
    }
    spins_ = peers_.size() <= std::thread::hardware_concurrency() ? kSpins : 1;
  }

  std::string_view name() const override { return "tcp"; }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }

  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override { return private_memory(bytes); }
  void register_buffer(std::span<std::byte> /*buffer*/) override {}

  Ticket post_send(int peer, std::span<const std::byte> bytes) override {
    check_usable();
    // A send only reads its bytes.
    const auto message = add(Direction::Send, peer, {const_cast<std::byte*>(bytes.data()), bytes.size()}, {});
    Peer& to = peers_[static_cast<std::size_t>(peer)];
    for_pieces(*message, [&](std::int64_t offset, std::int64_t size) {
      to.streams[to.next_send].add_send(message, offset, size);
      to.next_send = (to.next_send + 1) % to.streams.size();
    });
    return message->ticket;
  }

  Ticket post_receive(int peer, std::span<std::byte> target, Arrival arrival) override {
    check_usable();
    const auto message = add(Direction::Receive, peer, target, arrival);
    Peer& from = peers_[static_cast<std::size_t>(peer)];
    for_pieces(*message, [&](std::int64_t offset, std::int64_t size) {
      from.streams[from.next_receive].add_receive(message, offset, size);
      from.next_receive = (from.next_receive + 1) % from.streams.size();
    });
    return message->ticket;
  }

  void wait(Deadline deadline, std::vector<Ticket>& done) override {
    check_usable();
    EFLOPS_CHECK(!open_.empty(), "rank {} waits with nothing posted", rank_);
    Messages finished;
    for (int looks = 0;; ++looks) {
      for (int peer = 0; peer < size(); ++peer) progress(peer, finished);
      if (!finished.empty()) {
        for (const auto& message : finished) {
          open_.remove(message->ticket);
          done.push_back(message->ticket);
        }
        return;
      }
      if (looks < spins_) continue;
      if (Clock::now() > deadline) {
        const std::string reason = open_.oldest();
        fail(reason);
        throw TimeoutError("{}", reason);
      }
      sleep_until_something_moves(deadline);
    }
  }

  void fail(const std::string& reason) noexcept override {
    if (!failure_.empty()) return;
    failure_ = reason;
    Reason text{};
    std::copy_n(reason.begin(), std::min(reason.size(), kReasonBytes - 1), text.begin());
    for (const Peer& peer : peers_) {
      // Into an empty buffer: it is all taken at once, or the peer is gone.
      if (peer.links.control.get() >= 0) {
        [[maybe_unused]] const ssize_t sent =
            ::send(peer.links.control.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      }
    }
  }

 private:
  void check_usable() const {
    if (!failure_.empty()) throw CommError("{}", failure_);
  }

  [[noreturn]] void give_up(const std::string& reason) {
    fail(reason);
    throw CommError("{}", reason);
  }

  std::shared_ptr<TcpMessage> add(Direction direction, int peer, std::span<std::byte> bytes, Arrival arrival) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    return std::make_shared<TcpMessage>(
        TcpMessage{open_.add(direction, peer, size), bytes.data(), size, arrival, size});
  }

  static void for_pieces(const TcpMessage& message, const auto& visit) {
    for (std::int64_t offset = 0; offset < message.size; offset += TcpStream::kPieceBytes) {
      visit(offset, std::min(TcpStream::kPieceBytes, message.size - offset));
    }
  }

  void progress(int rank, Messages& finished) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    for (TcpStream& stream : peer.streams) {
      if (stream.wants_to_send() && stream.send(finished) == StreamEnd::Closed) lost(rank);
      if (!stream.wants_to_receive()) continue;
      const std::size_t receives = finished.size();
      std::int64_t wrong_size = -1;
      const StreamEnd end = stream.receive(finished, wrong_size);
      if (wrong_size >= 0) {
        give_up(fmt::format("rank {} sends {} bytes, but rank {} expects {}", rank, wrong_size, rank_,
                            stream.expected_size()));
      }
      if (end == StreamEnd::Closed && finished.size() == receives) lost(rank);
    }
  }

  /// The peer's data have ended: its reason comes over the control connection, if it had time to give one.
  [[noreturn]] void lost(int rank) {
    const Deadline soon = deadline_after(0.5);
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    while (Clock::now() < soon && !peer.has_left) {
      pollfd waited{peer.links.control.get(), POLLIN, 0};
      ::poll(&waited, 1, kLongestPoll);
      read_control(rank);
    }
    give_up(fmt::format("rank {} has closed its connections: its process has ended; {}", rank, open_.oldest()));
  }

  /// Throws the reason why a peer gives up; notes that it has left.
  void read_control(int rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    while (!peer.has_left) {
      const ssize_t got = ::recv(peer.links.control.get(), peer.reason.data() + peer.reason_received,
                                 kReasonBytes - peer.reason_received, MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got <= 0) {
        peer.has_left = true;
        return;
      }
      peer.reason_received += static_cast<std::size_t>(got);
      if (peer.reason_received == kReasonBytes) {
        peer.reason.back() = '\0';
        failure_ = peer.reason.data();
        throw CommError("{}", open_.beside(failure_));
      }
    }
  }

  void sleep_until_something_moves(Deadline deadline) {
    waited_.clear();
    waiting_ranks_.clear();
    for (int rank = 0; rank < size(); ++rank) {
      const Peer& peer = peers_[static_cast<std::size_t>(rank)];
      if (rank == rank_) continue;
      if (!peer.has_left) {
        waited_.push_back({peer.links.control.get(), POLLIN, 0});
        waiting_ranks_.push_back(rank);
      }
      for (std::size_t i = 0; i < peer.streams.size(); ++i) {
        const TcpStream& stream = peer.streams[i];
        const int events = (stream.wants_to_send() ? POLLOUT : 0) | (stream.wants_to_receive() ? POLLIN : 0);
        if (events == 0) continue;
        waited_.push_back({peer.links.data[i].get(), static_cast<short>(events), 0});
        waiting_ranks_.push_back(-1);
      }
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    ::poll(waited_.data(), waited_.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongestPoll)));
    for (std::size_t i = 0; i < waited_.size(); ++i) {
      const int rank = waiting_ranks_[i];
      if (rank < 0 || waited_[i].revents == 0) continue;
      read_control(rank);
      const Peer& peer = peers_[static_cast<std::size_t>(rank)];
      if (peer.has_left && peer.is_busy() && !may_still_have_data(peer)) lost(rank);
    }
  }

  /// A peer that is done may leave while its last bytes wait here.
  static bool may_still_have_data(const Peer& peer) {
    for (std::size_t i = 0; i < peer.streams.size(); ++i) {
      pollfd waited{peer.links.data[i].get(), POLLIN, 0};
      std::byte next{};
      if (peer.streams[i].wants_to_receive() && ::poll(&waited, 1, 0) == 1 &&
          ::recv(waited.fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 1) {
        return true;
      }
    }
    return false;
  }

  int rank_;
  OpenPosts open_;
  std::vector<Peer> peers_;  // by rank; empty for this one
  std::string failure_;
  int spins_ = 1;
  std::vector<pollfd> waited_;
  std::vector<int> waiting_ranks_;  // the rank of a control connection, -1 for data
};

}  // namespace

std::unique_ptr<Transport> make_tcp_transport(Bootstrap& bootstrap, const TcpOptions& options) {
  return std::make_unique<TcpTransport>(bootstrap, options);
}

}  // namespace eflops::comm
