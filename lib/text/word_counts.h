#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/character_table.h"

namespace eflops::text {

/// How often each normalised word occurs: what a WordPiece vocabulary is trained from. Memory grows with the number of
/// different words, not with the text. Not thread-safe: count in one object per thread and merge.
class WordCounts {
 public:
  /// Words of more than `max_word_chars` characters are not counted.
  explicit WordCounts(const NormalisationRules& rules, std::int64_t max_word_chars = 100);

  /// Counts the words of one text.
  void add_text(std::string_view utf8);
  /// Counts a word that is normalised already.
  void add_word(std::string_view word, std::int64_t count = 1);
  void merge(const WordCounts& other);

  std::int64_t total() const { return total_; }
  /// Every word with its count, in byte order: independent of the order in which they were counted.
  std::vector<std::pair<std::string, std::int64_t>> sorted() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
  };

  CharacterTable table_;
  std::int64_t max_word_chars_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> counts_;
  std::int64_t total_ = 0;
};

}  // namespace eflops::text
