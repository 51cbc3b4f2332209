#include "text/word_counts.h"

#include <algorithm>

#include "text/word_scanner.h"

namespace eflops::text {

WordCounts::WordCounts(const NormalisationRules& rules, std::int64_t max_word_chars)
    : table_(rules), max_word_chars_(max_word_chars) {}

void WordCounts::add_text(std::string_view utf8) {
  WordScanner scanner(table_, utf8, WordSources::Skip, max_word_chars_);
  Word word;
  while (scanner.next(word))
    if (word.code_points <= max_word_chars_) add_word(word.utf8);
}

void WordCounts::add_word(std::string_view word, std::int64_t count) {
  total_ += count;
  const auto found = counts_.find(word);
  if (found != counts_.end())
    found->second += count;
  else
    counts_.emplace(word, count);
}

void WordCounts::merge(const WordCounts& other) {
  for (const auto& [word, count] : other.counts_) add_word(word, count);
}

std::vector<std::pair<std::string, std::int64_t>> WordCounts::sorted() const {
  std::vector<std::pair<std::string, std::int64_t>> all(counts_.begin(), counts_.end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace eflops::text
