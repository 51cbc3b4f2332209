#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace eflops::tensor {

/// Tensors that live until the arena is rewound: a bump allocator whose memory is kept and reused, so that a step that
/// needs no more than an earlier one allocates nothing. Rewinding frees in stack order; using a tensor allocated after
/// the mark afterwards is a fault (its memory stays mapped, its content does not last). Not thread-safe.
class Arena {
 public:
  /// Rows are padded to multiples of this by allocate_rows, so that few GEMM shapes cover all batches.
  static constexpr std::int64_t kRowPadding = 64;

  static constexpr std::int64_t padded(std::int64_t rows) { return round_up(rows, kRowPadding); }

  explicit Arena(std::int64_t block_bytes = std::int64_t{16} << 20);

  /// Uninitialised elements.
  Tensor allocate(const Shape& shape, DType dtype);
  /// Uninitialised elements; rows up to the next multiple of kRowPadding exist too and are zero. Operations on padded
  /// rows keep them finite in activations and zero in gradients.
  Tensor allocate_rows(const Shape& shape, DType dtype);

  struct Mark {
    std::size_t block = 0;
    std::int64_t offset = 0;
    std::int64_t used = 0;
  };
  Mark mark() const { return position_; }
  /// Frees everything allocated since the mark was taken.
  void rewind(const Mark& mark);
  /// Frees everything, and joins the memory into one block when the steps so far needed several: batches of changing
  /// size then leave no gaps.
  void reset();

  /// Bytes in use now, and the most that ever were.
  std::int64_t used_bytes() const { return position_.used; }
  std::int64_t peak_bytes() const { return peak_; }
  /// Bytes held from the system.
  std::int64_t reserved_bytes() const;

 private:
  struct Block {
    std::shared_ptr<std::byte> data;
    std::int64_t bytes = 0;
  };
  std::shared_ptr<std::byte> take(std::int64_t bytes);

  std::int64_t block_bytes_;
  std::vector<Block> blocks_;
  Mark position_;
  std::int64_t peak_ = 0;
};

/// Rewinds an arena at the end of a scope to where it stood at the beginning.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.rewind(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  Arena::Mark mark_;
};

}  // namespace eflops::tensor
