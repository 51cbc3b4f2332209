#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace eflops::text {

/// Whose normalisation of raw text (bert.md 1.1, 1.3). Google: lower case of whole tokens, then NFD without marks,
/// control characters Cc and Cf go. HuggingFace: NFD without marks, then lower case by character, Co goes too; its
/// tables know Unicode 8, what is newer counts as unassigned (executed against tokenizers 0.23.3).
enum class NormalisationOrder { Google, HuggingFace };

struct NormalisationRules {
  NormalisationOrder order = NormalisationOrder::Google;
  bool lower_case = true;
  bool strip_accents = true;
  bool isolate_cjk = true;  ///< each ideograph is a word by itself
};

/// What a character does to the word it stands in.
enum class CharacterKind : std::uint8_t {
  Letter,   ///< goes on with a word
  Alone,    ///< punctuation or an ideograph: a word by itself
  Space,    ///< ends a word
  Deleted,  ///< is not there
};

/// Every code point's kind and what it is written as under one set of rules; made once, then read without ICU.
class CharacterTable {
 public:
  explicit CharacterTable(const NormalisationRules& rules);

  struct Entry {
    CharacterKind kind;
    bool maps;  ///< written as mapping(entry), which may be empty; else as itself
    std::uint32_t mapping_at;
  };

  Entry operator[](char32_t code_point) const {
    const std::uint32_t cell = cells_[std::size_t{blocks_[code_point >> 8]} * 256 + (code_point & 0xFF)];
    return {static_cast<CharacterKind>(cell & 3), (cell & 4) != 0, cell >> 3};
  }
  /// What a mapped character is written as.
  std::span<const char32_t> mapping(const Entry& entry) const {
    return {&mappings_[entry.mapping_at + 1], mappings_[entry.mapping_at]};
  }
  /// The same for ASCII, by byte; bytes from 0x80 are not ASCII and have no kind (kNotAscii).
  static constexpr std::uint8_t kNotAscii = 4;
  const std::array<std::uint8_t, 256>& ascii_kinds() const { return ascii_kinds_; }
  const std::array<std::uint8_t, 256>& ascii_mapping() const { return ascii_mapping_; }

  const NormalisationRules& rules() const { return rules_; }

 private:
  std::uint32_t make_cell(char32_t code_point);

  NormalisationRules rules_;
  std::vector<std::uint16_t> blocks_;
  std::vector<std::uint32_t> cells_;
  std::vector<char32_t> mappings_;  ///< length, then code points, again and again
  std::array<std::uint8_t, 256> ascii_kinds_{};
  std::array<std::uint8_t, 256> ascii_mapping_{};
};

}  // namespace eflops::text
