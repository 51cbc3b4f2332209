#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eflops::text {

/// Byte trie over a vocabulary as a double array (Aoe 1989): a step is one load and one comparison. Immutable.
class PieceTrie {
 public:
  static constexpr std::int32_t kRoot = 0;
  static constexpr std::int32_t kNone = -1;

  /// Pieces must be different and not empty; piece i has id i.
  explicit PieceTrie(std::span<const std::string> pieces);

  /// The node one byte on, or kNone.
  std::int32_t step(std::int32_t node, std::uint8_t byte) const {
    const std::int32_t next = cells_[static_cast<std::size_t>(node)].base + byte;
    return cells_[static_cast<std::size_t>(next)].parent == node ? next : kNone;
  }
  /// The id of the piece that ends at a node, or kNone.
  std::int32_t piece_at(std::int32_t node) const { return cells_[static_cast<std::size_t>(node)].piece; }

  /// The node that a prefix leads to, or kNone.
  std::int32_t find_node(std::string_view prefix) const;

 private:
  struct Cell {
    std::int32_t base = 0;  ///< children stand at base + byte
    std::int32_t parent = kNone;
    std::int32_t piece = kNone;
  };
  std::vector<Cell> cells_;

  friend class TrieBuilder;
};

}  // namespace eflops::text
