#include "text/wordpiece_trainer.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace eflops::text {

namespace {

using Piece = std::uint32_t;

constexpr std::string_view kContinuation = "##";

struct TrainingWord {
  std::vector<Piece> pieces;
  std::int64_t count;
};

/// Two neighbours as one key; smaller ids entered the vocabulary earlier.
constexpr std::uint64_t pair_key(Piece left, Piece right) { return std::uint64_t{left} << 32 | right; }

std::vector<std::string_view> characters_of(std::string_view word) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t bytes = read_utf8(word, at).bytes;
    characters.push_back(word.substr(at, bytes));
    at += bytes;
  }
  return characters;
}

class Trainer {
 public:
  Trainer(const WordCounts& counts, const WordPieceTrainingOptions& options) : options_(options) {
    for (const std::string_view special : kSpecialPieces) piece_id(special);
    const auto words = counts.sorted();
    if (words.empty()) throw DataError("no words to train a vocabulary from");
    make_words(words);
    for (std::size_t i = 0; i < words_.size(); ++i) count_pairs(i);
    for (const auto& [key, pair] : pairs_) queue_.push({pair.count, key});
  }

  std::vector<std::string> train() {
    while (static_cast<std::int64_t>(pieces_.size()) < options_.vocabulary_size && !queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(best.key);
      if (found == pairs_.end()) continue;
      if (found->second.count != best.count) {  // counted down since it was queued
        if (found->second.count > 0) queue_.push({found->second.count, best.key});
        continue;
      }
      if (best.count < options_.min_frequency) break;
      join(best.key);
    }
    return pieces_;
  }

 private:
  struct Pair {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  ///< where it was seen; may name words that lost it
  };
  struct Candidate {
    std::int64_t count;
    std::uint64_t key;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : key > other.key;
    }
  };

  Piece piece_id(std::string_view text) {
    const auto [entry, is_new] = ids_.emplace(text, static_cast<Piece>(pieces_.size()));
    if (is_new) pieces_.emplace_back(text);
    return entry->second;
  }

  std::unordered_set<std::string_view> choose_alphabet(
      const std::vector<std::pair<std::string, std::int64_t>>& words) const {
    std::unordered_map<std::string_view, std::int64_t> occurrences;
    for (const auto& [word, count] : words)
      for (const std::string_view character : characters_of(word)) occurrences[character] += count;
    std::vector<std::pair<std::int64_t, std::string_view>> order;
    for (const auto& [character, count] : occurrences) order.emplace_back(-count, character);
    std::sort(order.begin(), order.end());
    const std::size_t kept = std::min(order.size(), static_cast<std::size_t>(options_.alphabet_limit));
    std::unordered_set<std::string_view> alphabet;
    for (std::size_t i = 0; i < kept; ++i) alphabet.insert(order[i].second);
    return alphabet;
  }

  /// Cuts the words into characters and gives these the first ids, in byte order.
  void make_words(const std::vector<std::pair<std::string, std::int64_t>>& words) {
    const auto alphabet = choose_alphabet(words);
    std::vector<std::pair<std::vector<std::string>, std::int64_t>> spelled;
    std::set<std::string> characters;
    for (const auto& [word, count] : words) {
      std::vector<std::string> spelling;
      bool known = true;
      for (const std::string_view character : characters_of(word)) {
        known = known && alphabet.contains(character);
        spelling.push_back(std::string(spelling.empty() ? "" : kContinuation).append(character));
      }
      if (!known) continue;
      characters.insert(spelling.begin(), spelling.end());
      if (spelling.size() > 1) spelled.emplace_back(std::move(spelling), count);
    }
    const auto needed = static_cast<std::int64_t>(std::size(kSpecialPieces) + characters.size());
    if (needed > options_.vocabulary_size)
      throw ConfigError(
          "vocabulary_size is {}; the specials and the characters alone are {} pieces: ask for more, or "
          "lower alphabet_limit ({})",
          options_.vocabulary_size, needed, options_.alphabet_limit);
    for (const std::string& character : characters) piece_id(character);
    for (const auto& [spelling, count] : spelled) {
      std::vector<Piece> pieces;
      for (const std::string& character : spelling) pieces.push_back(piece_id(character));
      words_.push_back({std::move(pieces), count});
    }
  }

  void count_pairs(std::size_t index) {
    const TrainingWord& word = words_[index];
    for (std::size_t i = 0; i + 1 < word.pieces.size(); ++i)
      add(pair_key(word.pieces[i], word.pieces[i + 1]), word.count, static_cast<std::uint32_t>(index));
  }

  void add(std::uint64_t key, std::int64_t count, std::uint32_t word) {
    Pair& pair = pairs_[key];
    pair.count += count;
    if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
  }

  void join(std::uint64_t key) {
    const auto left = static_cast<Piece>(key >> 32);
    const auto right = static_cast<Piece>(key & 0xFFFFFFFF);
    const std::string text = pieces_[left] + pieces_[right].substr(kContinuation.size());
    const Piece joined = piece_id(text);  // two ways to one text share the piece
    const Pair pair = std::move(pairs_.at(key));
    grown_.clear();
    for (const std::uint32_t index : pair.words) join_in_word(index, left, right, joined);
    pairs_.erase(key);
    for (const std::uint64_t other : grown_) {
      const auto found = pairs_.find(other);
      if (found != pairs_.end() && found->second.count > 0) queue_.push({found->second.count, other});
    }
  }

  void join_in_word(std::uint32_t index, Piece left, Piece right, Piece joined) {
    TrainingWord& word = words_[index];
    scratch_.clear();
    const std::vector<Piece>& old = word.pieces;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (i + 1 == old.size() || old[i] != left || old[i + 1] != right) {
        scratch_.push_back(old[i]);
        continue;
      }
      if (!scratch_.empty()) {
        pairs_[pair_key(scratch_.back(), left)].count -= word.count;
        grow(pair_key(scratch_.back(), joined), word.count, index);
      }
      if (i + 2 < old.size()) {
        pairs_[pair_key(right, old[i + 2])].count -= word.count;
        grow(pair_key(joined, old[i + 2]), word.count, index);
      }
      scratch_.push_back(joined);
      ++i;
    }
    word.pieces = scratch_;
  }

  void grow(std::uint64_t key, std::int64_t count, std::uint32_t word) {
    add(key, count, word);
    grown_.insert(key);
  }

  WordPieceTrainingOptions options_;
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, Piece> ids_;
  std::vector<TrainingWord> words_;
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::priority_queue<Candidate> queue_;
  std::vector<Piece> scratch_;
  std::unordered_set<std::uint64_t> grown_;  ///< pairs that the present join made more frequent
};

}  // namespace

void WordPieceTrainingOptions::visit_fields(OptionVisitor& v) {
  v("vocabulary_size", vocabulary_size, "pieces to train, specials included; fewer come if pairs run out",
    {.unit = "pieces", .min = 6, .max = 10'000'000, .aliases = {"vocab_size"}});
  v("min_frequency", min_frequency, "a pair of neighbours that occurs less often is not joined", {.min = 1});
  v("alphabet_limit", alphabet_limit, "different characters kept, the most frequent",
    {.unit = "characters", .min = 1, .aliases = {"limit_alphabet"}});
}

std::vector<std::string> train_wordpiece(const WordCounts& counts, const WordPieceTrainingOptions& options) {
  return Trainer(counts, options).train();
}

}  // namespace eflops::text
