#include "comm/shm_transport.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <new>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "comm/open_posts.h"
#include "comm/process_watch.h"
#include "comm/shared_memory.h"
#include "comm/shm_segments.h"
#include "machine/machine.h"

namespace eflops::comm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kStagingPieceBytes = 64 << 10;
constexpr std::size_t kStagingPieces = 4;
constexpr std::int64_t kReadBytes = 128 << 10;  // of another process at a time: stays in the cache until it is reduced
constexpr int kSpins = 4000;                    // looks before the processor is offered to others
constexpr auto kNapAfter = std::chrono::milliseconds(20);
constexpr auto kNap = std::chrono::microseconds(50);
constexpr auto kLookAround = std::chrono::milliseconds(20);  // between checks that the peers live

/// A send whose bytes have not all been handed over, or not yet taken.
struct Outgoing {
  Ticket ticket = 0;
  std::span<const std::byte> bytes;
  std::int64_t handed = 0;
};

struct Incoming {
  Ticket ticket = 0;
  std::span<std::byte> target;
  Arrival arrival;
};

/// A slot in the queue, and the send that ends when it has been taken.
struct InQueue {
  std::uint64_t slot = 0;
  Ticket ends = -1;
};

/// One other rank of this server.
struct Peer {
  Peer(int rank_of_peer, ShmSegment mapped_control, pid_t process, const Control& shared)
      : rank(rank_of_peer), control(std::move(mapped_control)), watch(process), segments(shared) {}

  int rank;
  ShmSegment control;  // the peer's
  ProcessWatch watch;
  PeerSegments segments;
  Channel* out = nullptr;
  Channel* in = nullptr;
  std::deque<Outgoing> sends;
  std::deque<InQueue> queued;
  std::deque<Incoming> receives;
  std::shared_ptr<std::byte> staging;
  std::int64_t next_piece = 0;
  std::uint64_t probe = 0;  // address of the peer's probe word
};

class ShmTransport final : public Transport, public SharedMemory {
 public:
  ShmTransport(Bootstrap& bootstrap, Unregistered unregistered, Deadline deadline)
      : rank_(bootstrap.rank()), size_(bootstrap.size()), open_(rank_, size_) {
    remove_dead_segments();
    own_ = ShmSegment::create(control_bytes(size_));
    control_ = new (own_.data()) Control;
    board_ = new (own_.data() + board_offset()) Board;
    for (int sender = 0; sender < size_; ++sender) new (own_.data() + channel_offset(sender)) Channel;
    segments_ = std::make_shared<OwnSegments>(*control_);
    connect(bootstrap, deadline);
    reads_processes_ = unregistered == Unregistered::Probe && all_can_read(bootstrap, deadline);
    const unsigned cores = std::thread::hardware_concurrency();
    spins_ = static_cast<unsigned>(size_) <= cores ? kSpins : 0;
  }

  std::string_view name() const override { return "shm"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override { return segments_->allocate(bytes); }
  void register_buffer(std::span<std::byte> /*buffer*/) override {}

  Ticket post_send(int peer, std::span<const std::byte> bytes) override {
    check_usable();
    const Ticket ticket = open_.add(Direction::Send, peer, static_cast<std::int64_t>(bytes.size()));
    peer_of(peer).sends.push_back({ticket, bytes, 0});
    hand_over(peer_of(peer));
    return ticket;
  }

  Ticket post_receive(int peer, std::span<std::byte> target, Arrival arrival) override {
    check_usable();
    const Ticket ticket = open_.add(Direction::Receive, peer, static_cast<std::int64_t>(target.size()));
    peer_of(peer).receives.push_back({ticket, target, arrival});
    return ticket;
  }

  void wait(Deadline deadline, std::vector<Ticket>& done) override {
    check_usable();
    EFLOPS_CHECK(!open_.empty() || !finished_.empty(), "rank {} waits with nothing posted", rank_);
    const auto is_any_finished = [this] {
      for (std::unique_ptr<Peer>& peer : peers_) {
        if (peer) progress(*peer);
      }
      return !finished_.empty();
    };
    const auto is_needed = [](const Peer& peer) {
      return !peer.sends.empty() || !peer.queued.empty() || !peer.receives.empty();
    };
    look_until(
        is_any_finished, is_needed, [this] { return open_.oldest(); }, deadline);
    done.insert(done.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }

  Board& board() override {
    check_usable();
    return *board_;
  }
  const Board& board_of(int peer) override {
    return *reinterpret_cast<const Board*>(peer_of(peer).control.data() + board_offset());
  }
  std::optional<SharedPlace> place_of(std::span<const std::byte> bytes) const override {
    return segments_->find(bytes);
  }
  std::byte* bytes_of(int peer, const SharedPlace& place, std::int64_t bytes) override {
    return peer_of(peer).segments.bytes_of(place, bytes);
  }

  void wait_until(int peer, const std::atomic<std::uint64_t>& counter, std::uint64_t least,
                  Deadline deadline) override {
    const auto has_come = [&] { return counter.load(std::memory_order_acquire) >= least; };
    if (has_come()) return;
    const Clock::time_point begin = Clock::now();
    const auto waits = [&] {
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      return fmt::format("rank {} has waited {:.1f} s for rank {}", rank_, seconds, peer);
    };
    look_until(
        has_come, [&](const Peer& other) { return other.rank == peer; }, waits, deadline);
  }

  void fail(const std::string& reason) noexcept override {
    enter_failure(*control_, reason);
    for (std::unique_ptr<Peer>& peer : peers_) {
      if (peer) enter_failure(*reinterpret_cast<Control*>(peer->control.data()), reason);
    }
  }

 private:
  static void pause() { __builtin_ia32_pause(); }

  static void enter_failure(Control& control, const std::string& reason) noexcept {
    std::uint32_t none = 0;
    if (!control.failure.compare_exchange_strong(none, 1)) return;
    const std::size_t length = std::min(reason.size(), Control::kReasonBytes - 1);
    std::copy_n(reason.begin(), length, control.reason.begin());
    control.reason[length] = '\0';
    control.failure.store(2, std::memory_order_release);
  }

  bool has_failed() const { return control_->failure.load(std::memory_order_acquire) == 2; }
  void check_usable() const {
    if (has_failed()) throw CommError("{}", control_->reason.data());
  }

  [[noreturn]] void give_up(const std::string& reason) {
    fail(reason);
    throw CommError("{}", reason);
  }

  /// Looks until `found()`: often at first, then offering the processor to others, then napping. Meanwhile errors: a
  /// rank gave up, the deadline, the end of a peer that `is_needed`; all say what `waits()` says.
  template <class Found, class IsNeeded, class Waits>
  void look_until(Found found, IsNeeded is_needed, Waits waits, Deadline deadline) {
    int looks = 0;
    Clock::time_point begin;
    Clock::time_point looked_around;
    while (!found()) {
      if (has_failed()) throw CommError("{}; {}", control_->reason.data(), waits());
      if (looks++ < spins_) {
        pause();
        continue;
      }
      const Clock::time_point now = Clock::now();
      if (begin == Clock::time_point()) begin = looked_around = now;
      if (now > deadline) {
        const std::string reason = waits();
        fail(reason);
        throw TimeoutError("{}", reason);
      }
      if (now - looked_around > kLookAround) {
        looked_around = now;
        for (const std::unique_ptr<Peer>& peer : peers_) {
          if (!peer || !is_needed(*peer) || !peer->watch.has_ended()) continue;
          give_up(fmt::format("rank {} (process {}) has ended; {}", peer->rank, peer->watch.process(), waits()));
        }
      }
      if (now - begin > kNapAfter) {
        std::this_thread::sleep_for(kNap);
      } else {
        std::this_thread::yield();
      }
    }
  }

  Peer& peer_of(int rank) { return *peers_[static_cast<std::size_t>(rank)]; }

  /// Tells the others where this rank's control segment is and maps theirs.
  void connect(Bootstrap& bootstrap, Deadline deadline) {
    const std::string host = machine::host_name();
    const auto probe = reinterpret_cast<std::uint64_t>(&probe_);
    const std::vector<std::string> cards =
        bootstrap.all_gather(fmt::format("{} {} {} {}", host, ::getpid(), own_.name(), probe), deadline);
    for (int rank = 0; rank < size_; ++rank) {
      peers_.emplace_back();
      if (rank == rank_) continue;
      std::istringstream card(cards[static_cast<std::size_t>(rank)]);
      std::string their_host, name;
      pid_t process = 0;
      std::uint64_t their_probe = 0;
      card >> their_host >> process >> name >> their_probe;
      if (their_host != host) {
        throw CommError("transport shm: rank {} is on {} and rank {} on {}; shared memory joins ranks of one host",
                        rank_, host, rank, their_host);
      }
      ShmSegment control = ShmSegment::open(name, control_bytes(size_));
      const Control& shared = *reinterpret_cast<const Control*>(control.data());
      auto peer = std::make_unique<Peer>(rank, std::move(control), process, shared);
      peer->out = reinterpret_cast<Channel*>(peer->control.data() + channel_offset(rank_));
      peer->in = reinterpret_cast<Channel*>(own_.data() + channel_offset(rank));
      peer->probe = their_probe;
      peers_.back() = std::move(peer);
    }
  }

  /// Whether every rank can read every other rank's memory: containers and ptrace settings may forbid it.
  bool all_can_read(Bootstrap& bootstrap, Deadline deadline) {
    bool can = true;
    for (const std::unique_ptr<Peer>& peer : peers_) {
      std::uint64_t word = 0;
      can = can && (!peer || (read_process(*peer, peer->probe, reinterpret_cast<std::byte*>(&word), sizeof word) == 0 &&
                              word == probe_));
    }
    const std::vector<std::string> answers = bootstrap.all_gather(can ? "yes" : "no", deadline);
    return std::all_of(answers.begin(), answers.end(), [](const std::string& answer) { return answer == "yes"; });
  }

  /// 0, or the reason why not all bytes could be read.
  static int read_process(const Peer& peer, std::uint64_t address, std::byte* target, std::int64_t bytes) {
    while (bytes > 0) {
      iovec here{target, static_cast<std::size_t>(bytes)};
      iovec there{reinterpret_cast<void*>(address), static_cast<std::size_t>(bytes)};
      const ssize_t got = ::process_vm_readv(peer.watch.process(), &here, 1, &there, 1, 0);
      if (got <= 0) return got < 0 ? errno : EIO;
      target += got;
      address += static_cast<std::uint64_t>(got);
      bytes -= got;
    }
    return 0;
  }

  void finish(Ticket ticket) {
    open_.remove(ticket);
    finished_.push_back(ticket);
  }

  void progress(Peer& peer) {
    if (!peer.queued.empty()) {
      const std::uint64_t taken = peer.out->taken.load(std::memory_order_acquire);
      while (!peer.queued.empty() && peer.queued.front().slot < taken) {
        if (peer.queued.front().ends >= 0) finish(peer.queued.front().ends);
        peer.queued.pop_front();
      }
    }
    if (!peer.sends.empty()) hand_over(peer);
    while (!peer.receives.empty() && take(peer)) {
    }
  }

  /// Puts what it can of the waiting sends into the queue, in order.
  void hand_over(Peer& peer) {
    while (!peer.sends.empty()) {
      const std::uint64_t next = peer.out->posted.load(std::memory_order_relaxed);
      if (next - peer.out->taken.load(std::memory_order_acquire) >= Channel::kSlots) return;
      Outgoing& send = peer.sends.front();
      Slot& slot = peer.out->slots[next % Channel::kSlots];
      slot.message_bytes = static_cast<std::int64_t>(send.bytes.size());
      slot.offset = send.handed;
      if (!fill(peer, send, slot)) return;
      send.handed += slot.bytes;
      const bool is_last = send.handed == slot.message_bytes;
      if (is_last && slot.carrier == Carrier::Inline) {
        finish(send.ticket);  // the slot has a copy
      } else {
        peer.queued.push_back({next, is_last ? send.ticket : -1});
      }
      if (is_last) peer.sends.pop_front();
      peer.out->posted.store(next + 1, std::memory_order_release);
    }
  }

  /// Describes the next piece of a send in a slot; false if staging memory must be taken first.
  bool fill(Peer& peer, const Outgoing& send, Slot& slot) {
    slot.bytes = slot.message_bytes;
    if (send.bytes.size() <= Slot::kInlineBytes) {
      slot.carrier = Carrier::Inline;
      std::memcpy(slot.data.data(), send.bytes.data(), send.bytes.size());
      return true;
    }
    if (const std::optional<SharedPlace> place = segments_->find(send.bytes)) {
      set_shared(slot, *place);
      return true;
    }
    if (reads_processes_) {
      slot.carrier = Carrier::Process;
      slot.address = reinterpret_cast<std::uint64_t>(send.bytes.data());
      return true;
    }
    return stage(peer, send, slot);
  }

  static void set_shared(Slot& slot, const SharedPlace& place) {
    slot.carrier = Carrier::Shared;
    slot.place = place;
  }

  bool stage(Peer& peer, const Outgoing& send, Slot& slot) {
    if (!peer.staging)
      peer.staging = segments_->allocate(kStagingPieceBytes * static_cast<std::int64_t>(kStagingPieces));
    // Pieces are used in turn, so the next one is free when fewer than all are in the queue.
    if (peer.queued.size() >= kStagingPieces) return false;
    std::byte* const piece =
        peer.staging.get() + kStagingPieceBytes * (peer.next_piece++ % static_cast<std::int64_t>(kStagingPieces));
    slot.bytes = std::min(kStagingPieceBytes, slot.message_bytes - send.handed);
    std::memcpy(piece, send.bytes.data() + send.handed, static_cast<std::size_t>(slot.bytes));
    set_shared(slot, *segments_->find({piece, static_cast<std::size_t>(slot.bytes)}));
    return true;
  }

  /// Moves the next piece of the oldest receive; false if the peer has put none into the queue.
  bool take(Peer& peer) {
    const std::uint64_t next = peer.in->taken.load(std::memory_order_relaxed);
    if (peer.in->posted.load(std::memory_order_acquire) == next) return false;
    const Slot& slot = peer.in->slots[next % Channel::kSlots];
    const Incoming& receive = peer.receives.front();
    if (slot.message_bytes != static_cast<std::int64_t>(receive.target.size())) {
      give_up(fmt::format("rank {} sends {} bytes, but rank {} expects {}", peer.rank, slot.message_bytes, rank_,
                          receive.target.size()));
    }
    const auto size = static_cast<std::size_t>(slot.bytes);
    std::byte* const target = receive.target.data() + slot.offset;
    switch (slot.carrier) {
      case Carrier::Inline:
        arrive(receive.arrival, {slot.data.data(), size}, target, slot.offset);
        break;
      case Carrier::Shared:
        arrive(receive.arrival, {peer.segments.bytes_of(slot.place, slot.bytes), size}, target, slot.offset);
        break;
      case Carrier::Process:
        read(peer, receive, slot);
        break;
    }
    const bool is_last = slot.offset + slot.bytes == slot.message_bytes;
    peer.in->taken.store(next + 1, std::memory_order_release);
    if (is_last) {
      finish(receive.ticket);
      peer.receives.pop_front();
    }
    return true;
  }

  /// Takes a slot's bytes from the peer's own memory.
  void read(const Peer& peer, const Incoming& receive, const Slot& slot) {
    const auto checked = [&](std::byte* to, std::int64_t offset, std::int64_t size) {
      const int error = read_process(peer, slot.address + static_cast<std::uint64_t>(offset), to, size);
      if (error != 0) give_up(fmt::format("rank {} cannot read rank {}: {}", rank_, peer.rank, std::strerror(error)));
    };
    std::byte* const target = receive.target.data() + slot.offset;
    if (!receive.arrival.reduces) return checked(target, 0, slot.bytes);
    read_buffer_.resize(kReadBytes);
    for (std::int64_t offset = 0; offset < slot.bytes; offset += kReadBytes) {
      const std::int64_t size = std::min(kReadBytes, slot.bytes - offset);
      checked(read_buffer_.data(), offset, size);
      arrive(receive.arrival, {read_buffer_.data(), static_cast<std::size_t>(size)}, target + offset,
             slot.offset + offset);
    }
  }

  int rank_;
  int size_;
  OpenPosts open_;
  ShmSegment own_;
  Control* control_ = nullptr;
  Board* board_ = nullptr;
  std::shared_ptr<OwnSegments> segments_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null for this one
  std::vector<Ticket> finished_;
  std::vector<std::byte> read_buffer_;
  bool reads_processes_ = false;
  int spins_ = 0;
  static constexpr std::uint64_t kProbe = 0x65666C6F7073ULL;
  std::uint64_t probe_ = kProbe;
};

}  // namespace

std::unique_ptr<Transport> make_shm_transport(Bootstrap& bootstrap, Unregistered unregistered, double timeout_s) {
  return std::make_unique<ShmTransport>(bootstrap, unregistered, deadline_after(timeout_s));
}

}  // namespace eflops::comm
