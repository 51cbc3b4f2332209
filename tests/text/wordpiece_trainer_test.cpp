#include "text/wordpiece_trainer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/error.h"
#include "tests/support/data_folder.h"
#include "text/vocabulary.h"
#include "text/wordpiece_tokenizer.h"

namespace eflops::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

WordCounts counts_of(std::initializer_list<std::pair<const char*, std::int64_t>> words) {
  WordCounts counts({NormalisationOrder::Google, true, true, true});
  for (const auto& [word, count] : words) counts.add_word(word, count);
  return counts;
}

TEST(WordPieceTrainer, JoinsTheMostFrequentPairFirst) {
  // Pairs: a ##b 5+2 = 7, ##b ##c 2, b ##c 3. First ab (7); then b ##c 3 against ab ##c 2.
  const WordCounts counts = counts_of({{"ab", 5}, {"abc", 2}, {"bc", 3}});
  EXPECT_THAT(train_wordpiece(counts, {.vocabulary_size = 100, .min_frequency = 1}),
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##b", "##c", "a", "b", "ab", "bc", "abc"));
  EXPECT_THAT(train_wordpiece(counts, {.vocabulary_size = 100, .min_frequency = 3}),
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##b", "##c", "a", "b", "ab", "bc"));
  EXPECT_EQ(train_wordpiece(counts, {.vocabulary_size = 10, .min_frequency = 1}).back(), "ab");
}

TEST(WordPieceTrainer, TiesGoToThePairThatIsOlder) {
  // ##b and ##d come before a and c in byte order; a ##b and c ##d both occur twice, a is older than c.
  EXPECT_THAT(train_wordpiece(counts_of({{"cd", 2}, {"ab", 2}}), {.vocabulary_size = 100}),
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##b", "##d", "a", "c", "ab", "cd"));
}

TEST(WordPieceTrainer, CountsRunsOfOneLetter) {
  // aaaaa = a ##a ##a ##a ##a: ##a ##a occurs 3 times, a ##a once. Joined: a ##aa ##aa; then a ##aa and ##aa ##aa occur
  // once each and the pair with the smaller left id, ##aa (7) against a (6), is a ##aa.
  EXPECT_THAT(train_wordpiece(counts_of({{"aaaaa", 1}}), {.vocabulary_size = 100, .min_frequency = 1}),
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##a", "a", "##aa", "aaa", "aaaaa"));
}

TEST(WordPieceTrainer, LeavesOutWordsWithRareCharacters) {
  const WordCounts counts = counts_of({{"ab", 5}, {"az", 1}});
  EXPECT_THAT(train_wordpiece(counts, {.vocabulary_size = 100, .min_frequency = 1, .alphabet_limit = 2}),
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##b", "a", "ab"));
}

TEST(WordPieceTrainer, RefusesASizeThatCannotHoldTheCharacters) {
  try {
    train_wordpiece(counts_of({{"ab", 5}}), {.vocabulary_size = 6});
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("vocabulary_size is 6; the specials and the characters alone are 7 pieces"));
  }
}

TEST(WordPieceTrainer, RefusesNoText) { EXPECT_THROW(train_wordpiece(counts_of({}), {}), DataError); }

TEST(WordCounts, CountsNormalisedWordsAndMerges) {
  WordCounts one({NormalisationOrder::Google, true, true, true});
  one.add_text("The caf\u00e9, the");
  WordCounts two({NormalisationOrder::Google, true, true, true}, 5);
  two.add_text("The toolong");
  one.merge(two);
  using Count = std::pair<std::string, std::int64_t>;
  EXPECT_THAT(one.sorted(), ElementsAre(Count{",", 1}, Count{"cafe", 1}, Count{"the", 3}));
  EXPECT_EQ(one.total(), 5);
}

TEST(WordPieceTrainer, CoversRealTextWhateverTheOrderOfItsLines) {
  EFLOPS_NEED_DATA(data);
  std::vector<std::string> lines;
  std::ifstream file(data / "spm" / "botchan.txt");
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4288u);
  WordCounts forward({NormalisationOrder::Google, true, true, true});
  WordCounts backward({NormalisationOrder::Google, true, true, true});
  for (const std::string& line : lines) forward.add_text(line);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) backward.add_text(*line);
  const std::vector<std::string> pieces = train_wordpiece(forward, {.vocabulary_size = 2000});
  EXPECT_EQ(pieces, train_wordpiece(backward, {.vocabulary_size = 2000}));
  EXPECT_EQ(pieces.size(), 2000u);
  EXPECT_EQ(std::set<std::string>(pieces.begin(), pieces.end()).size(), pieces.size());
  EXPECT_EQ(parse_vocabulary(vocabulary_text(pieces), "trained"), pieces);

  const WordPieceTokenizer tokenizer(pieces, {}, "trained");
  std::vector<std::int32_t> ids;
  for (const std::string& line : lines) tokenizer.encode_ids(line, ids);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), tokenizer.specials().unknown), 0);  // every character has its pieces
  // Fewer pieces than characters would give: joined pieces are in use.
  EXPECT_LT(static_cast<std::int64_t>(ids.size()), 3 * forward.total() / 2);
}

}  // namespace
}  // namespace eflops::text
