#include "text/wordpiece_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "text/unicode.h"
#include "text/vocabulary.h"
#include "text/word_scanner.h"

namespace eflops::text {

namespace {

constexpr std::array<std::uint8_t, 256> kSameBytes = [] {
  std::array<std::uint8_t, 256> same{};
  for (std::size_t byte = 0; byte < 256; ++byte) same[byte] = static_cast<std::uint8_t>(byte);
  return same;
}();

/// Punctuation that stands close to the word before it, or behind it.
bool goes_behind(std::string_view part) {
  return part.size() == 1 && std::string_view(".,;:!?)]}%").find(part[0]) != std::string_view::npos;
}
bool goes_before(std::string_view part) {
  return part.size() == 1 && std::string_view("([{$").find(part[0]) != std::string_view::npos;
}

constexpr auto kLetter = static_cast<std::uint8_t>(CharacterKind::Letter);
constexpr auto kAlone = static_cast<std::uint8_t>(CharacterKind::Alone);
constexpr auto kSpace = static_cast<std::uint8_t>(CharacterKind::Space);
constexpr auto kDeleted = static_cast<std::uint8_t>(CharacterKind::Deleted);

}  // namespace

WordPieceTokenizer::WordPieceTokenizer(std::vector<std::string> pieces, const WordPieceSettings& settings,
                                       std::string_view where)
    : pieces_(std::move(pieces)),
      settings_(settings),
      specials_(find_specials(pieces_, where)),
      table_(settings.rules),
      trie_(pieces_),
      continuation_(trie_.find_node("##")) {
  EFLOPS_CHECK(settings.max_word_chars >= 1, "max_word_chars {}", settings.max_word_chars);
  for (std::size_t byte = 0; byte < ascii_alone_.size(); ++byte) {
    std::vector<std::int32_t> ids;
    encode_word(std::string(1, static_cast<char>(byte)), ids);
    ascii_alone_[byte] = ids[0];
  }
}

/// Covers a word with pieces and calls emit(id, begin, end) for each, bytes of the word; false where that is
/// impossible, after emit was called for what could be covered. Bytes go through `mapping` first.
template <typename Emit>
bool WordPieceTokenizer::cover(std::string_view word, const std::uint8_t* mapping, Emit&& emit) const {
  std::int32_t node = PieceTrie::kRoot;
  for (std::size_t begin = 0; begin < word.size(); node = continuation_) {
    std::int32_t best = PieceTrie::kNone;
    std::size_t best_end = begin;
    for (std::size_t at = begin; at < word.size() && node != PieceTrie::kNone; ++at) {
      node = trie_.step(node, mapping[static_cast<std::uint8_t>(word[at])]);
      if (node == PieceTrie::kNone) break;
      if (const std::int32_t id = trie_.piece_at(node); id != PieceTrie::kNone) {
        best = id;
        best_end = at + 1;
      }
    }
    if (best == PieceTrie::kNone) return false;
    emit(best, begin, best_end);
    begin = best_end;
  }
  return true;
}

void WordPieceTokenizer::encode_word(std::string_view word, std::vector<std::int32_t>& out) const {
  const std::size_t before = out.size();
  const bool too_long = static_cast<std::int64_t>(count_code_points(word)) > settings_.max_word_chars;
  if (!too_long &&
      cover(word, kSameBytes.data(), [&](std::int32_t id, std::size_t, std::size_t) { out.push_back(id); }))
    return;
  out.resize(before);
  out.push_back(specials_.unknown);
}

void WordPieceTokenizer::cover_ascii(std::string_view word, std::vector<std::int32_t>& out) const {
  const std::size_t before = out.size();
  const bool too_long = static_cast<std::int64_t>(word.size()) > settings_.max_word_chars;
  if (!too_long &&
      cover(word, table_.ascii_mapping().data(), [&](std::int32_t id, std::size_t, std::size_t) { out.push_back(id); }))
    return;
  out.resize(before);
  out.push_back(specials_.unknown);
}

void WordPieceTokenizer::encode_stretch_ids(std::string_view text, std::vector<std::int32_t>& out) const {
  const std::uint8_t* kinds = table_.ascii_kinds().data();
  const auto kind = [&](std::size_t at) { return kinds[static_cast<std::uint8_t>(text[at])]; };
  WordScanner scanner(table_, text, WordSources::Skip, settings_.max_word_chars);
  Word word;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint8_t first = kind(at);
    if (first == kSpace || first == kDeleted) {
      ++at;
      continue;
    }
    if (first == kAlone) {
      out.push_back(ascii_alone_[static_cast<std::uint8_t>(text[at++])]);
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && kind(end) == kLetter) ++end;
    if (end == text.size() || kind(end) == kSpace || kind(end) == kAlone) {
      cover_ascii(text.substr(at, end - at), out);
      at = end;
      continue;
    }
    scanner.seek(at);  // the word holds a character that is not ASCII or is deleted
    if (scanner.next(word)) {
      if (word.code_points > settings_.max_word_chars)
        out.push_back(specials_.unknown);
      else
        encode_word(word.utf8, out);
    }
    at = scanner.position();
  }
}

void WordPieceTokenizer::encode_stretch(std::string_view text, std::uint32_t first_code_point,
                                        std::vector<Token>& out) const {
  WordScanner scanner(table_, text, WordSources::Fill, settings_.max_word_chars);
  Word word;
  while (scanner.next(word)) {
    const std::size_t before = out.size();
    const auto emit = [&](std::int32_t id, std::size_t begin, std::size_t end) {
      out.push_back({id, first_code_point + word.sources[begin], first_code_point + word.sources[end - 1] + 1});
    };
    if (word.code_points <= settings_.max_word_chars && cover(word.utf8, kSameBytes.data(), emit)) continue;
    out.resize(before);
    out.push_back({specials_.unknown, first_code_point + word.begin, first_code_point + word.end});
  }
}

/// The next special piece in raw text from a byte on; at == text.size() where there is none.
WordPieceTokenizer::Special WordPieceTokenizer::find_special(std::string_view text, std::size_t from) const {
  if (settings_.rules.order == NormalisationOrder::HuggingFace) {
    for (std::size_t at = text.find('[', from); at != std::string_view::npos; at = text.find('[', at + 1)) {
      for (const std::int32_t id : {specials_.pad, specials_.unknown, specials_.cls, specials_.sep, specials_.mask}) {
        if (text.substr(at).starts_with(piece(id))) return {at, piece(id).size(), id};
      }
    }
  }
  return {text.size(), 0, specials_.unknown};
}

void WordPieceTokenizer::encode_ids(std::string_view utf8, std::vector<std::int32_t>& out) const {
  for (std::size_t at = 0;;) {
    const Special special = find_special(utf8, at);
    encode_stretch_ids(utf8.substr(at, special.at - at), out);
    if (special.at == utf8.size()) return;
    out.push_back(special.id);
    at = special.at + special.bytes;
  }
}

void WordPieceTokenizer::encode(std::string_view utf8, std::vector<Token>& out) const {
  std::uint32_t code_point = 0;
  for (std::size_t at = 0;;) {
    const Special special = find_special(utf8, at);
    const std::string_view stretch = utf8.substr(at, special.at - at);
    encode_stretch(stretch, code_point, out);
    if (special.at == utf8.size()) return;
    code_point += static_cast<std::uint32_t>(count_code_points(stretch));
    const auto length = static_cast<std::uint32_t>(special.bytes);  // specials are ASCII
    out.push_back({special.id, code_point, code_point + length});
    code_point += length;
    at = special.at + special.bytes;
  }
}

std::string WordPieceTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  bool glue = true;  // the next piece follows without a blank
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::string_view part = piece(ids[i]);
    const bool continues = continues_word(ids[i]);
    if (continues) part.remove_prefix(2);
    const bool apostrophe = part == "'" && i > 0 && i + 1 < ids.size();
    if (!glue && !continues && !apostrophe && !goes_behind(part)) text += ' ';
    text += part;
    glue = apostrophe || goes_before(part);
  }
  return text;
}

std::string_view WordPieceTokenizer::piece(std::int32_t id) const {
  EFLOPS_CHECK(id >= 0 && id < size(), "piece {} of {}", id, size());
  return pieces_[static_cast<std::size_t>(id)];
}

bool WordPieceTokenizer::is_special(std::int32_t id) const {
  return id == specials_.pad || id == specials_.unknown || id == specials_.cls || id == specials_.sep ||
         id == specials_.mask;
}

std::uint64_t WordPieceTokenizer::hash() const {
  const NormalisationRules& rules = settings_.rules;
  const std::string switches =
      fmt::format("wordpiece order {} lower {} strip {} cjk {} limit {}\n", static_cast<int>(rules.order),
                  rules.lower_case, rules.strip_accents, rules.isolate_cjk, settings_.max_word_chars);
  return hash64(switches + vocabulary_text(pieces_));
}

std::string WordPieceTokenizer::description() const {
  const NormalisationRules& rules = settings_.rules;
  std::string text = fmt::format("wordpiece {} {} limit {}", rules.lower_case ? "uncased" : "cased",
                                 rules.order == NormalisationOrder::Google ? "google" : "hf", settings_.max_word_chars);
  if (rules.strip_accents != rules.lower_case) text += rules.strip_accents ? " accents stripped" : " accents kept";
  if (!rules.isolate_cjk) text += " ideographs joined";
  return text + fmt::format(", {} pieces, Unicode {}", size(), unicode_version());
}

}  // namespace eflops::text
