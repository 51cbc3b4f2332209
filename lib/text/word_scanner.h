#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "text/character_table.h"

namespace eflops::text {

/// One word of BERT's basic tokenizer.
struct Word {
  std::string utf8;              ///< normalised
  std::int64_t code_points = 0;  ///< of the normalised word, counted on past the scanner's limit
  std::uint32_t begin = 0;       ///< [begin, end): code points of the text it comes from
  std::uint32_t end = 0;
  /// Per byte of `utf8`, the code point of the text it comes from. Filled only on request.
  std::vector<std::uint32_t> sources;
};

/// Whether Word::sources is filled.
enum class WordSources { Skip, Fill };

/// Cuts a text into normalised words, one after the other, in memory bounded by one word. Bytes that are not UTF-8 are
/// dropped. Marks that survive (with strip_accents off, or Mc) keep their written order.
class WordScanner {
 public:
  /// The table and the text must outlive the scanner. Words of more than `max_code_points` come without their tail.
  WordScanner(const CharacterTable& table, std::string_view text, WordSources sources = WordSources::Skip,
              std::int64_t max_code_points = std::numeric_limits<std::int64_t>::max());

  /// The next word; false at the end of the text, `word` is then empty.
  bool next(Word& word);

  /// Byte offset up to which the text was read; after next() it is behind the word.
  std::size_t position() const { return position_; }
  /// Goes on at another byte offset, the start of a character. Word::begin and end then count from there.
  void seek(std::size_t position) { position_ = position; }

 private:
  void append(char32_t code_point, CharacterTable::Entry entry, Word& word) const;
  char32_t lower_sigma(std::size_t at) const;

  const CharacterTable& table_;
  std::string_view text_;
  WordSources sources_;
  std::int64_t max_code_points_;
  bool sigma_rule_;
  std::size_t position_ = 0;
  std::uint32_t code_point_ = 0;
};

}  // namespace eflops::text
