#include "text/word_scanner.h"

#include <unicode/uchar.h>

#include "text/unicode.h"

namespace eflops::text {

namespace {

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kSmallSigma = 0x3C3;
constexpr char32_t kFinalSigma = 0x3C2;

bool has_property(char32_t c, UProperty property) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), property) != 0;
}

/// What the final-sigma rule sees at a character: nothing to look past, the end of the token, or a letter with case.
enum class Context { LookOn, NotCased, Cased };

Context context_of(char32_t c, const CharacterTable& table) {
  const CharacterKind kind = table[c].kind;
  if (kind == CharacterKind::Deleted) return Context::LookOn;
  if (kind == CharacterKind::Space) return Context::NotCased;
  if (has_property(c, UCHAR_CASE_IGNORABLE)) return Context::LookOn;
  return has_property(c, UCHAR_CASED) ? Context::Cased : Context::NotCased;
}

/// The character that ends at byte `end`, or one invalid byte.
Utf8Step read_utf8_before(std::string_view text, std::size_t end) {
  for (std::uint32_t bytes = 1; bytes <= 4 && bytes <= end; ++bytes) {
    const Utf8Step step = read_utf8(text.substr(0, end), end - bytes);
    if (step.valid && step.bytes == bytes) return step;
  }
  return {};
}

}  // namespace

WordScanner::WordScanner(const CharacterTable& table, std::string_view text, WordSources sources,
                         std::int64_t max_code_points)
    : table_(table),
      text_(text),
      sources_(sources),
      max_code_points_(max_code_points),
      sigma_rule_(table.rules().lower_case && table.rules().order == NormalisationOrder::Google) {}

// Unicode's Final_Sigma as Python's str.lower has it: behind a cased letter and not before one, case-ignorable
// characters looked past, within the token between spaces and ideographs.
char32_t WordScanner::lower_sigma(std::size_t at) const {
  bool behind_cased = false;
  for (std::size_t end = at; end > 0;) {
    const Utf8Step step = read_utf8_before(text_, end);
    end -= step.bytes;
    const Context context = step.valid ? context_of(step.code_point, table_) : Context::LookOn;
    if (context == Context::LookOn) continue;
    behind_cased = context == Context::Cased;
    break;
  }
  if (!behind_cased) return kSmallSigma;
  for (std::size_t next = at + 2; next < text_.size();) {
    const Utf8Step step = read_utf8(text_, next);
    next += step.bytes;
    const Context context = step.valid ? context_of(step.code_point, table_) : Context::LookOn;
    if (context == Context::LookOn) continue;
    return context == Context::Cased ? kSmallSigma : kFinalSigma;
  }
  return kFinalSigma;
}

void WordScanner::append(char32_t code_point, CharacterTable::Entry entry, Word& word) const {
  const auto push = [&](char32_t c) {
    if (++word.code_points > max_code_points_) return;
    append_utf8(word.utf8, c);
    if (sources_ == WordSources::Fill) word.sources.resize(word.utf8.size(), code_point_);
  };
  const std::int64_t before = word.code_points;
  if (!entry.maps) {
    push(code_point);
  } else {
    for (const char32_t c : table_.mapping(entry))
      push(code_point == kCapitalSigma && sigma_rule_ ? lower_sigma(position_) : c);
  }
  if (word.code_points == before) return;
  if (before == 0) word.begin = code_point_;
  word.end = code_point_ + 1;
}

bool WordScanner::next(Word& word) {
  word.utf8.clear();
  word.sources.clear();
  word.code_points = 0;
  while (position_ < text_.size()) {
    const Utf8Step step = read_utf8(text_, position_);
    if (!step.valid) {
      ++position_;
      continue;
    }
    const CharacterTable::Entry entry = table_[step.code_point];
    const bool ends_word = entry.kind == CharacterKind::Alone || entry.kind == CharacterKind::Space;
    if (ends_word && word.code_points > 0) return true;  // the character is read again
    if (ends_word || entry.kind == CharacterKind::Letter) {
      if (entry.kind != CharacterKind::Space) append(step.code_point, entry, word);
    }
    position_ += step.bytes;
    ++code_point_;
    if (entry.kind == CharacterKind::Alone && word.code_points > 0) return true;
  }
  return word.code_points > 0;
}

}  // namespace eflops::text
