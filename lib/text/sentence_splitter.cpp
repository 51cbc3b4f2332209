#include "text/sentence_splitter.h"

#include <algorithm>

#include "text/abbreviations.h"
#include "text/unicode.h"

namespace eflops::text {

namespace {

bool is_end_mark(char32_t c) { return c == '.' || c == '!' || c == '?' || c == 0x2026; }
bool is_cjk_full_stop(char32_t c) { return c == 0x3002 || c == 0xFF01 || c == 0xFF1F; }

bool is_closer(char32_t c) {
  return c == '"' || c == '\'' || c == ')' || c == ']' || c == '}' || c == 0x2019 || c == 0x201D || c == 0xBB ||
         c == 0x300D || c == 0x300F;
}

bool is_opener(char32_t c) {
  return c == '"' || c == '\'' || c == '(' || c == '[' || c == '{' || c == '`' || c == 0x2018 || c == 0x201C ||
         c == 0xAB || c == 0xBF || c == 0xA1;
}

/// Reads forward through a text, dropping what is not UTF-8.
class Reader {
 public:
  Reader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  bool done() const { return at_ >= text_.size(); }
  std::size_t at() const { return at_; }
  /// The present character; U+FFFD for a byte that is not UTF-8, 0 at the end.
  char32_t peek() const {
    if (done()) return 0;
    const Utf8Step step = read_utf8(text_, at_);
    return step.valid ? step.code_point : 0xFFFD;
  }
  void advance() { at_ += read_utf8(text_, at_).bytes; }
  template <typename Class>
  std::size_t skip(Class&& is_member) {
    std::size_t skipped = 0;
    for (; !done() && is_member(peek()); ++skipped) advance();
    return skipped;
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

/// A run of end marks with its closing quotes and brackets.
struct EndMark {
  std::size_t begin = 0;
  std::size_t end = 0;       ///< behind the closers
  bool single_stop = false;  ///< one '.', nothing else
  bool ellipsis = false;
  bool closed = false;  ///< closers follow
  bool cjk = false;
};

EndMark read_end_mark(std::string_view text, std::size_t at) {
  Reader reader(text, at);
  EndMark mark{.begin = at};
  std::size_t stops = 0;
  std::size_t others = 0;
  for (;;) {
    const char32_t c = reader.peek();
    if (!is_end_mark(c) && !is_cjk_full_stop(c)) break;
    mark.cjk = mark.cjk || is_cjk_full_stop(c);
    mark.ellipsis = mark.ellipsis || c == 0x2026;
    (c == '.' ? stops : others) += 1;
    reader.advance();
    Reader ahead = reader;  // ". . ." is one mark
    if (c == '.' && ahead.skip([](char32_t x) { return x == ' '; }) == 1 && ahead.peek() == '.') reader = ahead;
  }
  mark.ellipsis = mark.ellipsis || stops >= 3;
  mark.single_stop = stops == 1 && others == 0;
  mark.closed = reader.skip(is_closer) > 0;
  mark.end = reader.at();
  return mark;
}

/// No abbreviation is longer; so the work for an end mark has a bound.
constexpr std::size_t kLongestWord = 64;

/// The last word, from behind white space or a dash on, without opening quotes and brackets.
std::string_view last_word(std::string_view sentence) {
  sentence.remove_prefix(sentence.size() - std::min(sentence.size(), kLongestWord));
  std::size_t begin = 0;
  for (const std::string_view border : {" ", "\t", "\n", "\r", "--", "\u2013", "\u2014"})
    if (const std::size_t at = sentence.rfind(border); at != std::string_view::npos)
      begin = std::max(begin, at + border.size());
  Reader reader(sentence, begin);
  reader.skip(is_opener);
  return sentence.substr(reader.at());
}

bool is_number(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What stands behind white space and opening quotes: its first character and its first word of letters.
struct NextWord {
  char32_t first = 0;
  std::string_view letters;
};

NextWord read_next_word(std::string_view text, std::size_t at) {
  Reader reader(text, at);
  reader.skip(is_space);
  reader.skip(is_opener);
  const std::size_t begin = reader.at();
  const NextWord next{reader.peek(), {}};
  reader.skip(is_letter);
  return {next.first, text.substr(begin, reader.at() - begin)};
}

bool can_begin_sentence(char32_t c) { return is_digit(c) || (is_letter(c) && (is_upper_case(c) || !is_lower_case(c))); }

/// Whether the single full stop behind `so_far` belongs to an abbreviation or a number and ends nothing (rule 3).
bool stop_goes_on(std::string_view so_far, const NextWord& next) {
  const std::string_view word = last_word(so_far);
  if (is_number(word) && word.size() == so_far.size()) return true;
  switch (classify_abbreviation(word)) {
    case Abbreviation::None:
      return false;
    case Abbreviation::NeverEnds:
      return true;
    case Abbreviation::BeforeNumber:
      return is_digit(next.first);
    case Abbreviation::MayEnd:
      return !is_usual_first_word(next.letters);
  }
  return false;
}

bool ends_sentence(std::string_view text, std::size_t sentence_begin, const EndMark& mark) {
  if (mark.cjk) return true;
  const Reader behind(text, mark.end);
  if (!is_space(behind.peek())) return false;
  const NextWord next = read_next_word(text, mark.end);
  if (!can_begin_sentence(next.first)) return false;
  const std::string_view so_far = text.substr(sentence_begin, mark.begin - sentence_begin);
  if (mark.single_stop && !mark.closed) return !stop_goes_on(so_far, next);
  return !(mark.ellipsis && !mark.closed && next.letters == "I");
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  Reader reader(text, at);
  reader.skip(is_space);
  return reader.at();
}

std::string_view without_trailing_space(std::string_view text) {
  std::size_t end = 0;
  for (Reader reader(text, 0); !reader.done();) {
    const bool space = is_space(reader.peek());
    reader.advance();
    if (!space) end = reader.at();
  }
  return text.substr(0, end);
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view paragraph) {
  std::vector<std::string_view> sentences;
  std::size_t begin = skip_space(paragraph, 0);
  for (std::size_t at = begin; at < paragraph.size();) {
    // Only bytes of end marks are looked at closely: . ! ? and the first bytes of U+2026, U+3002, U+FF01, U+FF1F.
    at = paragraph.find_first_of(".!?\xE2\xE3\xEF", at);
    if (at == std::string_view::npos) break;
    const char32_t c = Reader(paragraph, at).peek();
    if (!is_end_mark(c) && !is_cjk_full_stop(c)) {
      ++at;
      continue;
    }
    const EndMark mark = read_end_mark(paragraph, at);
    if (ends_sentence(paragraph, begin, mark)) {
      sentences.push_back(paragraph.substr(begin, mark.end - begin));
      begin = skip_space(paragraph, mark.end);
    }
    at = std::max(begin, mark.end);
  }
  if (begin < paragraph.size()) sentences.push_back(without_trailing_space(paragraph.substr(begin)));
  return sentences;
}

}  // namespace eflops::text
