#pragma once

#include <array>
#include <string>
#include <vector>

#include "text/character_table.h"
#include "text/piece_trie.h"
#include "text/tokenizer.h"

namespace eflops::text {

/// Everything besides the vocabulary that changes the ids.
struct WordPieceSettings {
  NormalisationRules rules;
  std::int64_t max_word_chars = 100;  ///< longer normalised words are [UNK]; Google's code has 200, Hugging Face 100
};

/// BERT's tokenizer: normalise, cut into words, then cover each word greedily from the left with the longest piece;
/// pieces behind the first begin with "##"; a word that cannot be covered is one [UNK]. In HuggingFace order the
/// special pieces in raw text ("[MASK]") are found first and kept whole; in Google order they are text like any other.
class WordPieceTokenizer final : public Tokenizer {
 public:
  /// `where` names the vocabulary in errors. DataError if a special piece is missing.
  WordPieceTokenizer(std::vector<std::string> pieces, const WordPieceSettings& settings, std::string_view where);

  void encode(std::string_view utf8, std::vector<Token>& out) const override;
  void encode_ids(std::string_view utf8, std::vector<std::int32_t>& out) const override;
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::int32_t size() const override { return static_cast<std::int32_t>(pieces_.size()); }
  std::string_view piece(std::int32_t id) const override;
  bool continues_word(std::int32_t id) const override { return piece(id).starts_with("##"); }
  SpecialIds specials() const override { return specials_; }
  bool is_special(std::int32_t id) const override;
  std::uint64_t hash() const override;
  std::string description() const override;

  const std::vector<std::string>& pieces() const { return pieces_; }
  const WordPieceSettings& settings() const { return settings_; }

  /// Appends the pieces of one word that is normalised already.
  void encode_word(std::string_view word, std::vector<std::int32_t>& out) const;

 private:
  struct Special {
    std::size_t at;
    std::size_t bytes;
    std::int32_t id;
  };

  Special find_special(std::string_view text, std::size_t from) const;
  void encode_stretch(std::string_view text, std::uint32_t first_code_point, std::vector<Token>& out) const;
  void encode_stretch_ids(std::string_view text, std::vector<std::int32_t>& out) const;
  template <typename Emit>
  bool cover(std::string_view word, const std::uint8_t* mapping, Emit&& emit) const;
  void cover_ascii(std::string_view word, std::vector<std::int32_t>& out) const;

  std::vector<std::string> pieces_;
  WordPieceSettings settings_;
  SpecialIds specials_;
  CharacterTable table_;
  PieceTrie trie_;
  std::int32_t continuation_;                    ///< the trie's node behind "##", or kNone
  std::array<std::int32_t, 128> ascii_alone_{};  ///< id of each ASCII character as a word
};

}  // namespace eflops::text
