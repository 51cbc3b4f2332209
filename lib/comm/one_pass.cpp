#include "comm/one_pass.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "comm/shared_memory.h"
#include "kernels/reduce_many.h"
#include "machine/topology.h"

namespace eflops::comm {
namespace {

using kernels::Store;

constexpr std::int64_t kOneMeetingBytes = 4 << 10;       // up to here a copy costs less than a second meeting
constexpr std::uint64_t kUsualCacheBytes = 32ULL << 20;  // where the machine does not tell

/// What one step shows of memory that others can reach.
struct Places {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  // as a segment: not reachable
  SharedPlace in{kNone, 0, 0};
  SharedPlace out{kNone, 0, 0};
  bool are_reachable() const { return in.segment != kNone && out.segment != kNone; }
};
static_assert(sizeof(Places) <= Board::Step::kInlineBytes);

std::uint64_t cache_bytes() {
  static const std::uint64_t bytes = machine::read_topology().last_level_cache_bytes();
  return bytes > 0 ? bytes : kUsualCacheBytes;
}

class OnePassAllreduce final : public PreparedCollective {
 public:
  OnePassAllreduce(Transport& transport, SharedMemory& memory, const coll::Problem& problem, const Execution& execution)
      : transport_(transport),
        memory_(memory),
        execution_(execution),
        rank_(transport.rank()),
        ranks_(transport.size()),
        element_bytes_(kernels::bytes_of(execution.element)),
        bytes_(problem.elements * element_bytes_),
        exceeds_cache_(2 * static_cast<std::uint64_t>(bytes_ * ranks_) > cache_bytes()),
        inputs_(static_cast<std::size_t>(ranks_)),
        outputs_(static_cast<std::size_t>(ranks_)) {}

  std::string algorithm() const override { return std::string(kOnePass); }

  void run(std::span<const std::byte> in, std::span<std::byte> out, Deadline deadline) override {
    const auto expected = static_cast<std::size_t>(bytes_);
    EFLOPS_CHECK(in.size() == expected && out.size() == expected, "buffers of {} and {} bytes for {}", in.size(),
                 out.size(), expected);
    if (bytes_ == 0) return;
    // In place the lines are in the cache when they are written.
    const Store how = exceeds_cache_ && in.data() != out.data() ? Store::Streaming : Store::Cached;
    if (bytes_ > kOneMeetingBytes && blocks(in, out, how, deadline)) return;
    pieces(in, out, how, deadline);
  }

 private:
  /// Shows up to a piece of bytes to the others as this rank's next step; its number.
  std::uint64_t show(std::span<const std::byte> bytes) {
    Board& board = memory_.board();
    const std::uint64_t number = 1 + std::max(board.steps[0].number.load(std::memory_order_relaxed),
                                              board.steps[1].number.load(std::memory_order_relaxed));
    Board::Step& step = board.steps[number % 2];
    step.total_bytes = bytes_;
    std::byte* const to = bytes.size() <= step.data.size() ? step.data.data() : board.pieces[number % 2].data();
    std::memcpy(to, bytes.data(), bytes.size());
    step.number.store(number, std::memory_order_release);
    return number;
  }

  /// What a peer shows in a step, once it does.
  const std::byte* shown(int peer, std::uint64_t number, std::size_t bytes, Deadline deadline) {
    const Board& board = memory_.board_of(peer);
    const Board::Step& step = board.steps[number % 2];
    memory_.wait_until(peer, step.number, number, deadline);
    if (step.total_bytes != bytes_) {
      const std::string reason =
          fmt::format("rank {} reduces {} bytes, but rank {} {}", peer, step.total_bytes, rank_, bytes_);
      transport_.fail(reason);
      throw CommError("{}", reason);
    }
    return bytes <= step.data.size() ? step.data.data() : board.pieces[number % 2].data();
  }

  /// Reduces everybody's data into this rank's output, piece by piece.
  void pieces(std::span<const std::byte> in, std::span<std::byte> out, Store how, Deadline deadline) {
    for (std::size_t offset = 0; offset < in.size(); offset += Board::kPieceBytes) {
      const std::span<const std::byte> piece =
          in.subspan(offset, std::min<std::size_t>(Board::kPieceBytes, in.size() - offset));
      const std::uint64_t number = show(piece);
      for (int rank = 0; rank < ranks_; ++rank) {
        inputs_[static_cast<std::size_t>(rank)] =
            rank == rank_ ? piece.data() : shown(rank, number, piece.size(), deadline);
      }
      void* const output = out.data() + offset;
      reduce({&output, 1}, static_cast<std::int64_t>(piece.size()) / element_bytes_, how);
    }
  }

  /// Reduces this rank's block of all inputs into all outputs; false, with nothing done, if some are out of reach.
  bool blocks(std::span<const std::byte> in, std::span<std::byte> out, Store how, Deadline deadline) {
    const Places mine{memory_.place_of(in).value_or(Places().in), memory_.place_of(out).value_or(Places().out)};
    const std::uint64_t number = show(std::as_bytes(std::span(&mine, 1)));
    // By whole lines, so that no two ranks write to one.
    const std::int64_t line = kernels::kLineBytes;
    const coll::Range lines = coll::block_of({0, (bytes_ + line - 1) / line}, ranks_, rank_);
    const std::int64_t begin = lines.begin * line;
    const std::int64_t end = std::min(lines.end * line, bytes_);
    bool all_reachable = true;
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      Places places = mine;
      if (rank != rank_) std::memcpy(&places, shown(rank, number, sizeof places, deadline), sizeof places);
      all_reachable = all_reachable && places.are_reachable();
      if (!all_reachable) continue;  // all steps are looked at, so all ranks find the same
      inputs_[index] = (rank == rank_ ? in.data() : memory_.bytes_of(rank, places.in, bytes_)) + begin;
      outputs_[index] = (rank == rank_ ? out.data() : memory_.bytes_of(rank, places.out, bytes_)) + begin;
    }
    if (!all_reachable) return false;
    reduce(outputs_, (end - begin) / element_bytes_, how);
    std::atomic<std::uint64_t>& written = memory_.board().written;
    const std::uint64_t times = written.load(std::memory_order_relaxed) + 1;
    written.store(times, std::memory_order_release);
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank != rank_) memory_.wait_until(rank, memory_.board_of(rank).written, times, deadline);
    }
    return true;
  }

  void reduce(std::span<void* const> outputs, std::int64_t elements, Store how) {
    kernels::reduce_many(execution_.reduction, execution_.element, inputs_, outputs, elements, how);
  }

  Transport& transport_;
  SharedMemory& memory_;
  Execution execution_;
  int rank_;
  int ranks_;
  std::int64_t element_bytes_;
  std::int64_t bytes_;
  bool exceeds_cache_;
  std::vector<const void*> inputs_;  // by rank, as outputs_
  std::vector<void*> outputs_;
};

}  // namespace

bool can_one_pass(const Transport& transport) { return dynamic_cast<const SharedMemory*>(&transport) != nullptr; }

std::unique_ptr<PreparedCollective> prepare_one_pass_allreduce(Transport& transport, const coll::Problem& problem,
                                                               const Execution& execution) {
  EFLOPS_CHECK(problem.collective == coll::Collective::Allreduce, "one-pass for {}",
               coll::collective_name(problem.collective));
  auto* const memory = dynamic_cast<SharedMemory*>(&transport);
  if (memory == nullptr) {
    throw ConfigError("algorithm one-pass needs ranks that see each other's memory: transport shm, not {}",
                      transport.name());
  }
  return std::make_unique<OnePassAllreduce>(transport, *memory, problem, execution);
}

}  // namespace eflops::comm
