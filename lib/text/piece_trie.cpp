#include "text/piece_trie.h"

#include <algorithm>
#include <numeric>

namespace eflops::text {

/// Places nodes breadth first, so that the upper levels of the trie lie together.
class TrieBuilder {
 public:
  TrieBuilder(std::span<const std::string> pieces, std::vector<PieceTrie::Cell>& cells)
      : pieces_(pieces), order_(pieces.size()), cells_(cells) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return pieces_[a] < pieces_[b]; });
  }

  void build() {
    grow(512);
    next_free_[0] = 1;  // the root's own cell
    std::vector<Range> queue = {{0, order_.size(), 0, PieceTrie::kRoot}};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const Range range = queue[at];
      place_children(range, queue);
    }
  }

 private:
  /// The pieces order_[begin, end) share their first `depth` bytes, which lead to `node`.
  struct Range {
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
    std::int32_t node;
  };

  std::uint8_t byte_of(std::size_t rank, std::size_t depth) const {
    return static_cast<std::uint8_t>(pieces_[order_[rank]][depth]);
  }

  void grow(std::size_t size) {
    while (next_free_.size() <= size) next_free_.push_back(next_free_.size());
    cells_.resize(next_free_.size());
  }

  /// The first free cell from `at` on (path halving over a chain of taken cells).
  std::size_t find_free(std::size_t at) {
    grow(at + 512);
    while (next_free_[at] != at) {
      grow(next_free_[at] + 512);
      next_free_[at] = next_free_[next_free_[at]];
      at = next_free_[at];
    }
    return at;
  }

  /// A base at which all these bytes' cells are free.
  std::size_t find_base(const std::vector<std::uint8_t>& bytes) {
    for (std::size_t cell = find_free(std::size_t{bytes.front()} + 1);; cell = find_free(cell + 1)) {
      const std::size_t base = cell - bytes.front();
      if (std::all_of(bytes.begin(), bytes.end(), [&](std::uint8_t b) { return next_free_[base + b] == base + b; }))
        return base;
    }
  }

  void place_children(const Range& range, std::vector<Range>& queue) {
    std::size_t rank = range.begin;
    if (pieces_[order_[rank]].size() == range.depth)
      cells_[static_cast<std::size_t>(range.node)].piece = static_cast<std::int32_t>(order_[rank++]);
    std::vector<std::uint8_t> bytes;
    std::vector<std::size_t> starts;
    for (; rank < range.end; ++rank) {
      if (!bytes.empty() && bytes.back() == byte_of(rank, range.depth)) continue;
      bytes.push_back(byte_of(rank, range.depth));
      starts.push_back(rank);
    }
    if (bytes.empty()) return;
    starts.push_back(range.end);
    const std::size_t base = find_base(bytes);
    cells_[static_cast<std::size_t>(range.node)].base = static_cast<std::int32_t>(base);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t child = base + bytes[i];
      cells_[child].parent = range.node;
      next_free_[child] = child + 1;
      queue.push_back({starts[i], starts[i + 1], range.depth + 1, static_cast<std::int32_t>(child)});
    }
  }

  std::span<const std::string> pieces_;
  std::vector<std::size_t> order_;
  std::vector<PieceTrie::Cell>& cells_;
  std::vector<std::size_t> next_free_;  ///< itself where free, else a later cell
};

PieceTrie::PieceTrie(std::span<const std::string> pieces) {
  TrieBuilder(pieces, cells_).build();
  cells_.resize(cells_.size() + 256);  // so that every base + byte exists
}

std::int32_t PieceTrie::find_node(std::string_view prefix) const {
  std::int32_t node = kRoot;
  for (const char byte : prefix) {
    node = step(node, static_cast<std::uint8_t>(byte));
    if (node == kNone) break;
  }
  return node;
}

}  // namespace eflops::text
