#include "text/piece_trie.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace eflops::text {
namespace {

TEST(PieceTrie, FindsEveryPieceAndNoOther) {
  const std::vector<std::string> pieces = {"un", "##aff", "##able", "a", "##a", "b", "abc", "\xFF\x01"};
  const PieceTrie trie(pieces);
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::int32_t node = trie.find_node(pieces[id]);
    ASSERT_NE(node, PieceTrie::kNone) << pieces[id];
    EXPECT_EQ(trie.piece_at(node), static_cast<std::int32_t>(id));
  }
  EXPECT_EQ(trie.piece_at(trie.find_node("ab")), PieceTrie::kNone);  // a prefix of "abc", no piece
  EXPECT_EQ(trie.find_node("ac"), PieceTrie::kNone);
  EXPECT_EQ(trie.find_node("abcd"), PieceTrie::kNone);
}

TEST(PieceTrie, HoldsManyRandomPieces) {
  Random random(1, Purpose::Test);
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < 3000; ++i) {  // the number makes each piece different
    std::string piece = std::to_string(i) + "|";
    for (std::uint64_t n = random.below(6); n > 0; --n) piece += static_cast<char>(random.below(256));
    pieces.push_back(piece);
  }
  const PieceTrie trie(pieces);
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::int32_t node = trie.find_node(pieces[id]);
    ASSERT_NE(node, PieceTrie::kNone);
    ASSERT_EQ(trie.piece_at(node), static_cast<std::int32_t>(id));
  }
}

TEST(PieceTrie, EveryByteFromEveryNodeIsSafe) {
  const PieceTrie trie(std::vector<std::string>{"a", "\xFF\xFF"});
  for (const std::string_view prefix : {"", "a", "\xFF", "\xFF\xFF"})
    for (int byte = 0; byte < 256; ++byte) {
      const bool known = (prefix.empty() && (byte == 'a' || byte == 0xFF)) || (prefix == "\xFF" && byte == 0xFF);
      EXPECT_EQ(trie.step(trie.find_node(prefix), static_cast<std::uint8_t>(byte)) != PieceTrie::kNone, known);
    }
}

}  // namespace
}  // namespace eflops::text
