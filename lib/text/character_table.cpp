#include "text/character_table.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <map>

#include "base/error.h"

namespace eflops::text {

namespace {

constexpr char32_t kLast = 0x10FFFF;
constexpr char32_t kBlock = 256;

/// The general category as the tables of Hugging Face's tokenizers have it: Unicode 8. Six characters changed since.
std::uint32_t category_of_unicode_8(char32_t c) {
  switch (c) {
    case 0x166D:
      return U_GC_PO_MASK;
    case 0x1734:
      return U_GC_MN_MASK;
    case 0x1885:
    case 0x1886:
      return U_GC_LO_MASK;
    case 0xA9BD:
      return U_GC_MC_MASK;
    case 0x111C9:
      return U_GC_PO_MASK;
    default:
      break;
  }
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] > 8 ? U_GC_CN_MASK : U_GET_GC_MASK(static_cast<UChar32>(c));
}

std::uint32_t category(char32_t c, NormalisationOrder order) {
  return order == NormalisationOrder::HuggingFace ? category_of_unicode_8(c) : U_GET_GC_MASK(static_cast<UChar32>(c));
}

bool is_cjk(char32_t c, NormalisationOrder order) {
  // Extension E starts at 2B820; Hugging Face has 2B920 (tokenizers PR 2395), kept for equal ids.
  const char32_t extension_e = order == NormalisationOrder::HuggingFace ? 0x2B920 : 0x2B820;
  const auto in = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  return in(0x4E00, 0x9FFF) || in(0x3400, 0x4DBF) || in(0x20000, 0x2A6DF) || in(0x2A700, 0x2B73F) ||
         in(0x2B740, 0x2B81F) || in(extension_e, 0x2CEAF) || in(0xF900, 0xFAFF) || in(0x2F800, 0x2FA1F);
}

bool is_punctuation(char32_t c, NormalisationOrder order) {
  if ((c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126)) return true;
  return (category(c, order) & U_GC_P_MASK) != 0;
}

CharacterKind kind_in_raw_text(char32_t c, NormalisationOrder order) {
  const std::uint32_t mask = category(c, order);
  if (c == '\t' || c == '\n' || c == '\r') return CharacterKind::Space;
  std::uint32_t deleted = U_GC_CC_MASK | U_GC_CF_MASK;
  if (order == NormalisationOrder::HuggingFace) deleted |= U_GC_CO_MASK;
  if (c == 0 || c == 0xFFFD || (mask & deleted) != 0) return CharacterKind::Deleted;
  if ((mask & U_GC_Z_MASK) != 0) return CharacterKind::Space;
  return CharacterKind::Letter;
}

std::u32string decomposed_without_marks(const std::u32string& text, NormalisationOrder order) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* nfd = icu::Normalizer2::getNFDInstance(status);
  EFLOPS_CHECK(U_SUCCESS(status), "ICU: {}", u_errorName(status));
  std::u32string kept;
  for (const char32_t c : text) {
    icu::UnicodeString parts;
    if (category(c, order) == U_GC_CN_MASK || !nfd->getDecomposition(static_cast<UChar32>(c), parts)) {
      if ((category(c, order) & U_GC_MN_MASK) == 0) kept.push_back(c);
      continue;
    }
    for (std::int32_t i = 0; i < parts.length(); i = parts.moveIndex32(i, 1)) {
      const auto part = static_cast<char32_t>(parts.char32At(i));
      if ((category(part, order) & U_GC_MN_MASK) == 0) kept.push_back(part);
    }
  }
  return kept;
}

std::u32string lower_cased(const std::u32string& text) {
  std::u32string lower;
  for (const char32_t c : text) {
    if (u_tolower(static_cast<UChar32>(c)) == static_cast<UChar32>(c)) {
      lower.push_back(c);
      continue;
    }
    icu::UnicodeString one(static_cast<UChar32>(c));
    one.toLower(icu::Locale::getRoot());
    for (std::int32_t i = 0; i < one.length(); i = one.moveIndex32(i, 1))
      lower.push_back(static_cast<char32_t>(one.char32At(i)));
  }
  return lower;
}

std::u32string written_as(char32_t c, const NormalisationRules& rules) {
  std::u32string text(1, c);
  const bool lower_first = rules.order == NormalisationOrder::Google;
  if (rules.lower_case && lower_first) text = lower_cased(text);
  if (rules.strip_accents) text = decomposed_without_marks(text, rules.order);
  if (rules.lower_case && !lower_first) text = lower_cased(text);
  return text;
}

}  // namespace

std::uint32_t CharacterTable::make_cell(char32_t c) {
  const bool ideograph = rules_.isolate_cjk && is_cjk(c, rules_.order);
  if (U_GET_GC_MASK(static_cast<UChar32>(c)) == U_GC_CN_MASK)  // four of five code points: no properties to look up
    return static_cast<std::uint32_t>(ideograph ? CharacterKind::Alone : CharacterKind::Letter);
  CharacterKind kind = kind_in_raw_text(c, rules_.order);
  std::u32string text(1, c);
  if (kind == CharacterKind::Letter) {
    text = written_as(c, rules_);
    if (ideograph || (text.size() == 1 && is_punctuation(text[0], rules_.order))) kind = CharacterKind::Alone;
  }
  if (text == std::u32string(1, c)) return static_cast<std::uint32_t>(kind);
  const auto at = static_cast<std::uint32_t>(mappings_.size());
  mappings_.push_back(static_cast<char32_t>(text.size()));
  mappings_.insert(mappings_.end(), text.begin(), text.end());
  return static_cast<std::uint32_t>(kind) | 4 | at << 3;
}

CharacterTable::CharacterTable(const NormalisationRules& rules) : rules_(rules) {
  std::map<std::vector<std::uint32_t>, std::uint16_t> known_blocks;
  for (char32_t first = 0; first <= kLast; first += kBlock) {
    std::vector<std::uint32_t> block(kBlock);
    for (char32_t i = 0; i < kBlock; ++i) block[i] = make_cell(first + i);
    const auto [entry, is_new] = known_blocks.emplace(block, static_cast<std::uint16_t>(known_blocks.size()));
    if (is_new) cells_.insert(cells_.end(), block.begin(), block.end());
    blocks_.push_back(entry->second);
  }
  mappings_.push_back(0);  // so that the address behind the last, empty mapping exists
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    ascii_kinds_[byte] = byte < 0x80 ? static_cast<std::uint8_t>((*this)[byte].kind) : kNotAscii;
    ascii_mapping_[byte] = static_cast<std::uint8_t>(byte);
    if (byte < 0x80 && (*this)[byte].maps) ascii_mapping_[byte] = static_cast<std::uint8_t>(mapping((*this)[byte])[0]);
  }
}

}  // namespace eflops::text
