#include "comm/mpi_transport.h"

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <thread>

#include "base/error.h"
#include "comm/mpi_check.h"
#include "comm/open_posts.h"
#include "comm/private_memory.h"

namespace eflops::comm {
namespace {

constexpr std::int64_t kPieceBytes = 60000;  // a multiple of every element's size
constexpr int kPiecesInFlight = 16;          // of one peer and direction
constexpr int kDataTag = 1;
constexpr int kFailureTag = 2;
constexpr std::size_t kReasonBytes = 512;
constexpr auto kSpin = std::chrono::microseconds(50);
constexpr auto kNap = std::chrono::microseconds(50);

using Clock = std::chrono::steady_clock;

/// A posted send or receive and how far its pieces are.
struct Posted {
  Ticket ticket = 0;
  std::byte* bytes = nullptr;
  std::int64_t size = 0;
  Arrival arrival;
  std::int64_t started = 0;  // bytes whose pieces were handed to MPI
  std::int64_t finished = 0;
};

/// All that goes one way between this rank and a peer, in order.
struct Way {
  int peer = 0;
  Direction direction = Direction::Send;
  std::list<Posted> posted;
  int pieces = 0;
};

/// A piece that MPI works on; without a way it is the message of a rank that gives up.
struct Piece {
  Way* way = nullptr;
  Posted* posted = nullptr;
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::unique_ptr<std::byte[]> staging = {};  // of a piece that will be reduced

  bool is_send() const { return way != nullptr && way->direction == Direction::Send; }
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm communicator)
      : communicator_(communicator), rank_(rank_of(communicator)), size_(size_of(communicator)), open_(rank_, size_) {
    check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    for (int peer = 0; peer < size_; ++peer) {
      ways_.push_back({peer, Direction::Send, {}, 0});
      ways_.push_back({peer, Direction::Receive, {}, 0});
    }
    // Request 0: what a rank that gives up would send.
    requests_.emplace_back();
    pieces_.emplace_back();
    check_mpi(
        MPI_Irecv(reason_.data(), kReasonBytes, MPI_CHAR, MPI_ANY_SOURCE, kFailureTag, communicator_, requests_.data()),
        "MPI_Irecv");
  }

  ~MpiTransport() override {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      // What is still open belongs to a failed run: receives can be withdrawn, sends are left to MPI.
      if (pieces_[i].is_send()) {
        MPI_Request_free(&requests_[i]);
      } else {
        MPI_Cancel(&requests_[i]);
        MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
      }
    }
    MPI_Comm_free(&communicator_);
  }

  std::string_view name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override { return private_memory(bytes); }
  void register_buffer(std::span<std::byte> /*buffer*/) override {}

  Ticket post_send(int peer, std::span<const std::byte> bytes) override {
    // MPI only reads what it sends.
    return post(Direction::Send, peer, {const_cast<std::byte*>(bytes.data()), bytes.size()}, {});
  }

  Ticket post_receive(int peer, std::span<std::byte> target, Arrival arrival) override {
    return post(Direction::Receive, peer, target, arrival);
  }

  void wait(Deadline deadline, std::vector<Ticket>& done) override {
    check_usable();
    EFLOPS_CHECK(!open_.empty(), "rank {} waits with nothing posted", rank_);
    const std::size_t before = done.size();
    const Clock::time_point begin = Clock::now();
    while (true) {
      if (progress(done)) {
        if (done.size() > before) return;
        continue;
      }
      const Clock::time_point now = Clock::now();
      if (now > deadline) {
        const std::string reason = open_.oldest();
        fail(reason);
        throw TimeoutError("{}", reason);
      }
      if (now - begin > kSpin) std::this_thread::sleep_for(kNap);
    }
  }

  void fail(const std::string& reason) noexcept override {
    if (!failure_.empty()) return;
    failure_ = reason;
    std::array<char, kReasonBytes> text{};
    std::copy_n(reason.begin(), std::min(reason.size(), kReasonBytes - 1), text.begin());
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      // Small enough to be buffered: no rank waits for it here.
      MPI_Request request = MPI_REQUEST_NULL;
      farewells_.push_back(text);
      if (MPI_Isend(farewells_.back().data(), kReasonBytes, MPI_CHAR, peer, kFailureTag, communicator_, &request) ==
          MPI_SUCCESS) {
        MPI_Request_free(&request);
      }
    }
  }

 private:
  static int rank_of(MPI_Comm communicator) {
    int rank = 0;
    check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
    return rank;
  }

  static int size_of(MPI_Comm communicator) {
    int size = 1;
    check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
    return size;
  }

  void check_usable() const {
    if (!failure_.empty()) throw CommError("{}", failure_);
  }

  [[noreturn]] void give_up(const std::string& reason) {
    fail(reason);
    throw CommError("{}", reason);
  }

  Ticket post(Direction direction, int peer, std::span<std::byte> bytes, Arrival arrival) {
    check_usable();
    const auto size = static_cast<std::int64_t>(bytes.size());
    const Ticket ticket = open_.add(direction, peer, size);
    Way& way = ways_[static_cast<std::size_t>(2 * peer + (direction == Direction::Send ? 0 : 1))];
    way.posted.push_back({ticket, bytes.data(), size, arrival, 0, 0});
    start_pieces(way);
    return ticket;
  }

  /// Hands MPI the next pieces of a way, in order, while few are in flight.
  void start_pieces(Way& way) {
    for (Posted& posted : way.posted) {
      while (posted.started < posted.size) {
        if (way.pieces >= kPiecesInFlight) return;
        const std::int64_t size = std::min(kPieceBytes, posted.size - posted.started);
        start(way, posted, size);
        posted.started += size;
        ++way.pieces;
      }
    }
  }

  void start(Way& way, Posted& posted, std::int64_t size) {
    Piece piece{&way, &posted, posted.started, size, nullptr};
    std::byte* bytes = posted.bytes + posted.started;
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = static_cast<int>(size);
    if (way.direction == Direction::Send) {
      check_mpi(MPI_Isend(bytes, count, MPI_BYTE, way.peer, kDataTag, communicator_, &request), "MPI_Isend");
    } else {
      if (posted.arrival.reduces) {
        piece.staging = std::make_unique<std::byte[]>(static_cast<std::size_t>(size));
        bytes = piece.staging.get();
      }
      check_mpi(MPI_Irecv(bytes, count, MPI_BYTE, way.peer, kDataTag, communicator_, &request), "MPI_Irecv");
    }
    if (free_.empty()) {
      free_.push_back(requests_.size());
      requests_.push_back(MPI_REQUEST_NULL);
      pieces_.emplace_back();
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    requests_[slot] = request;
    pieces_[slot] = std::move(piece);
  }

  /// Takes what MPI has finished; whether there was anything.
  bool progress(std::vector<Ticket>& done) {
    const auto slots = static_cast<int>(requests_.size());
    finished_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int count = 0;
    const int code = MPI_Testsome(slots, requests_.data(), &count, finished_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) give_up(fmt::format("MPI_Testsome: {}", mpi_text(code)));
    if (count == MPI_UNDEFINED || count == 0) return false;
    for (int i = 0; i < count; ++i) {
      const auto slot = static_cast<std::size_t>(finished_[static_cast<std::size_t>(i)]);
      const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
      if (slot == 0) {
        reason_.back() = '\0';
        failure_ = reason_.data();
        throw CommError("{}", open_.beside(failure_));
      }
      const int error = code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : MPI_SUCCESS;
      end_piece(slot, status, error, done);
    }
    return true;
  }

  void end_piece(std::size_t slot, const MPI_Status& status, int error, std::vector<Ticket>& done) {
    Piece piece = std::move(pieces_[slot]);
    Way& way = *piece.way;
    free_.push_back(slot);
    --way.pieces;
    Posted& posted = *piece.posted;
    if (!piece.is_send()) check_received(way, piece, status, error);
    if (error != MPI_SUCCESS) give_up(fmt::format("rank {} and rank {}: {}", rank_, way.peer, mpi_text(error)));
    if (piece.staging) {
      arrive(posted.arrival, {piece.staging.get(), static_cast<std::size_t>(piece.size)}, posted.bytes + piece.offset,
             piece.offset);
    }
    posted.finished += piece.size;
    if (posted.finished == posted.size) {
      open_.remove(posted.ticket);
      done.push_back(posted.ticket);
      way.posted.remove_if([&posted](const Posted& other) { return &other == &posted; });
    }
    start_pieces(way);
  }

  void check_received(const Way& way, const Piece& piece, const MPI_Status& status, int error) {
    int kind = MPI_SUCCESS;
    if (error != MPI_SUCCESS) MPI_Error_class(error, &kind);
    if (kind == MPI_ERR_TRUNCATE) {
      give_up(fmt::format("rank {} sends more than the {} bytes that rank {} expects", way.peer, piece.posted->size,
                          rank_));
    }
    if (error != MPI_SUCCESS) return;
    int received = 0;
    MPI_Get_count(&status, MPI_BYTE, &received);
    if (received != piece.size) {
      give_up(fmt::format("rank {} sends {} bytes, but rank {} expects {}", way.peer, piece.offset + received, rank_,
                          piece.posted->size));
    }
  }

  MPI_Comm communicator_;
  int rank_;
  int size_;
  OpenPosts open_;
  std::string failure_;
  std::array<char, kReasonBytes> reason_{};
  std::list<std::array<char, kReasonBytes>> farewells_;
  std::deque<Way> ways_;  // send and receive of each peer
  // By slot; slot 0 is the failure message.
  std::vector<MPI_Request> requests_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> free_;
  std::vector<int> finished_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator) {
  return std::make_unique<MpiTransport>(communicator);
}

}  // namespace eflops::comm
