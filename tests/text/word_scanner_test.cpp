#include "text/word_scanner.h"

#include <gmock/gmock.h>

namespace eflops::text {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using namespace std::string_literals;
using Words = std::vector<std::string>;

enum class Case { Uncased, Cased };

const CharacterTable& table(NormalisationOrder order, Case casing) {
  static const CharacterTable google({NormalisationOrder::Google, true, true, true});
  static const CharacterTable google_cased({NormalisationOrder::Google, false, false, true});
  static const CharacterTable hf({NormalisationOrder::HuggingFace, true, true, true});
  static const CharacterTable hf_cased({NormalisationOrder::HuggingFace, false, false, true});
  if (order == NormalisationOrder::Google) return casing == Case::Uncased ? google : google_cased;
  return casing == Case::Uncased ? hf : hf_cased;
}

Words scan(const CharacterTable& characters, std::string_view text) {
  WordScanner scanner(characters, text);
  Words words;
  for (Word word; scanner.next(word);) words.push_back(word.utf8);
  return words;
}

Words google(std::string_view text, Case casing = Case::Uncased) {
  return scan(table(NormalisationOrder::Google, casing), text);
}
Words hf(std::string_view text, Case casing = Case::Uncased) {
  return scan(table(NormalisationOrder::HuggingFace, casing), text);
}

struct Vector {
  std::string input;
  Words uncased;
  Words cased;
};

// bert.md 1.2: outputs of google-research/bert's tokenization.py, executed under Python 3.11.
std::vector<Vector> golden_vectors() {
  const auto same = [](const std::string& input, const Words& words) { return Vector{input, words, words}; };
  return {
      {"Caf\u00e9 na\u00efve", {"cafe", "naive"}, {"Caf\u00e9", "na\u00efve"}},
      {"\u0130stanbul", {"istanbul"}, {"\u0130stanbul"}},
      {"Stra\u00dfe", {"stra\u00dfe"}, {"Stra\u00dfe"}},
      same("a\0b\ufffdc\u200bd\u00ade"s, {"abcde"}),
      same("x\u2028y\u2029z", {"x", "y", "z"}),
      same("a\u0085b", {"ab"}),
      same("\u1680x", {"x"}),
      same("\u4e2d\u6587abc\u3042\u30ab", {"\u4e2d", "\u6587", "abc\u3042\u30ab"}),
      {"\uac00\ub098", {"\u1100\u1161\u1102\u1161"}, {"\uac00\ub098"}},
      same("don't stop--now", {"don", "'", "t", "stop", "-", "-", "now"}),
      same("$5.00+tax^2", {"$", "5", ".", "00", "+", "tax", "^", "2"}),
      same("\u20ac5 \u00b10 \u00bd", {"\u20ac5", "\u00b10", "\u00bd"}),
      same("\u201cquote\u201d \u2013 dash\u2026", {"\u201c", "quote", "\u201d", "\u2013", "dash", "\u2026"}),
      same("\U0001f600ok", {"\U0001f600ok"}),
      {"\u03a3\u03a3\u03c2", {"\u03c3\u03c3\u03c2"}, {"\u03a3\u03a3\u03c2"}},
      {"\u039f\u0394\u039f\u03a3", {"\u03bf\u03b4\u03bf\u03c2"}, {"\u039f\u0394\u039f\u03a3"}},
      same("\U0002b820z", {"\U0002b820", "z"}),
      same("", {}),
      same("   ", {}),
      same("\u00a0", {}),
  };
}

TEST(WordScanner, GivesTheGoldenVectorsOfGooglesCode) {
  for (const Vector& v : golden_vectors()) {
    EXPECT_THAT(google(v.input), ElementsAreArray(v.uncased)) << v.input;
    EXPECT_THAT(google(v.input, Case::Cased), ElementsAreArray(v.cased)) << v.input;
  }
}

// Each of these was executed with tokenizers 0.23.3 (BertNormalizer, then BertPreTokenizer).
TEST(WordScanner, HuggingFaceOrderDiffersWhereItsTablesDo) {
  EXPECT_THAT(hf("\u039f\u0394\u039f\u03a3"), ElementsAre("\u03bf\u03b4\u03bf\u03c3"));  // no final sigma
  EXPECT_THAT(hf("\U0002b820z"), ElementsAre("\U0002b820z"));                            // 2B920 for 2B820
  EXPECT_THAT(hf("\U0002b920z"), ElementsAre("\U0002b920", "z"));
  EXPECT_THAT(hf("a\ue000b"), ElementsAre("ab"));                // private use goes
  EXPECT_THAT(hf("a\u08e2b"), ElementsAre("a\u08e2b"));          // Cf since Unicode 9: unknown, stays
  EXPECT_THAT(hf("a\u2e43b"), ElementsAre("a\u2e43b"));          // Po since Unicode 9
  EXPECT_THAT(hf("a\u166db"), ElementsAre("a", "\u166d", "b"));  // Po then, So now
  EXPECT_THAT(hf("a\u1df9b"), ElementsAre("a\u1df9b"));          // Mn since Unicode 10
  EXPECT_THAT(hf("\u0130stanbul"), ElementsAre("istanbul"));
}

TEST(WordScanner, GoogleOrderAtTheSamePlaces) {
  EXPECT_THAT(google("a\ue000b"), ElementsAre("a\ue000b"));
  EXPECT_THAT(google("a\u08e2b"), ElementsAre("ab"));
  EXPECT_THAT(google("a\u2e43b"), ElementsAre("a", "\u2e43", "b"));
  EXPECT_THAT(google("a\u166db"), ElementsAre("a\u166db"));
  EXPECT_THAT(google("a\u1df9b"), ElementsAre("ab"));
}

// T19: emoji of Unicode 12 stay with both; Hugging Face's slow tokenizer alone drops them.
TEST(WordScanner, KeepsEmojiWithBothOrders) {
  const std::string text = "\U0001f971 \U0001f4f7\U0001f90f \U0001f9be";
  const Words words = {"\U0001f971", "\U0001f4f7\U0001f90f", "\U0001f9be"};
  EXPECT_THAT(google(text), ElementsAreArray(words));
  EXPECT_THAT(hf(text), ElementsAreArray(words));
}

// Python 3.11's str.lower on each of these tokens.
TEST(WordScanner, AppliesTheFinalSigmaRuleWithinATokenOnly) {
  EXPECT_THAT(google("\u03a3"), ElementsAre("\u03c3"));  // nothing before
  EXPECT_THAT(google("A\u03a3"), ElementsAre("a\u03c2"));
  EXPECT_THAT(google("A\u03a3B"), ElementsAre("a\u03c3b"));
  EXPECT_THAT(google("A \u03a3"), ElementsAre("a", "\u03c3"));  // a token of its own
  EXPECT_THAT(google("A\u03a3 B"), ElementsAre("a\u03c2", "b"));
  EXPECT_THAT(google("A.\u03a3"), ElementsAre("a", ".", "\u03c2"));  // '.' is looked past
  EXPECT_THAT(google("A\u03a3'B"), ElementsAre("a\u03c3", "'", "b"));
  EXPECT_THAT(google("A\u0301\u00ad\u03a3\u200b"), ElementsAre("a\u03c2"));    // marks and deleted ones too
  EXPECT_THAT(google("A\u4e2d\u03a3"), ElementsAre("a", "\u4e2d", "\u03c3"));  // an ideograph is a border
  EXPECT_THAT(google("A\xFF\u03a3\xFF"), ElementsAre("a\u03c2"));              // bytes dropped first
  EXPECT_THAT(google("A\u03a3", Case::Cased), ElementsAre("A\u03a3"));
}

TEST(WordScanner, CanonicalSingletonsBecomePunctuation) {
  EXPECT_THAT(google("a\u1fefb"), ElementsAre("a", "`", "b"));  // U+1FEF is U+0060 in NFD
  EXPECT_THAT(google("a\u2260b"), ElementsAre("a", "=", "b"));  // '=' and a mark
  EXPECT_THAT(google("a\u2260b", Case::Cased), ElementsAre("a\u2260b"));
}

TEST(WordScanner, AccentsAndCaseAreSeparateSwitches) {
  const CharacterTable accents_kept({NormalisationOrder::Google, true, false, true});
  EXPECT_THAT(scan(accents_kept, "Caf\u00c9"), ElementsAre("caf\u00e9"));
  const CharacterTable accents_off({NormalisationOrder::Google, false, true, true});
  EXPECT_THAT(scan(accents_off, "Caf\u00c9"), ElementsAre("CafE"));
  const CharacterTable hf_accents_kept({NormalisationOrder::HuggingFace, true, false, true});
  EXPECT_THAT(scan(hf_accents_kept, "\u0130"), ElementsAre("i\u0307"));
}

TEST(WordScanner, IdeographsCanBeLeftJoined) {
  const CharacterTable joined({NormalisationOrder::Google, true, true, false});
  EXPECT_THAT(scan(joined, "a\u4e2d\u6587"), ElementsAre("a\u4e2d\u6587"));
}

TEST(WordScanner, SaysWhereWordsComeFrom) {
  // Code points: 0 C, 1 a, 2 ZWSP, 3 f, 4 e, 5 acute, 6 blank, 7 Hangul (three letters once decomposed), 8 '!'
  const std::string text = "Ca\u200bfe\u0301 \uac01!";
  WordScanner scanner(table(NormalisationOrder::Google, Case::Uncased), text, WordSources::Fill);
  Word word;
  ASSERT_TRUE(scanner.next(word));
  EXPECT_EQ(word.utf8, "cafe");
  EXPECT_THAT(word.sources, ElementsAre(0, 1, 3, 4));
  EXPECT_EQ(word.begin, 0u);
  EXPECT_EQ(word.end, 5u);  // the mark behind the last letter is not covered
  ASSERT_TRUE(scanner.next(word));
  EXPECT_EQ(word.code_points, 3);
  EXPECT_EQ(word.begin, 7u);
  EXPECT_EQ(word.end, 8u);
  ASSERT_TRUE(scanner.next(word));
  EXPECT_EQ(word.utf8, "!");
  EXPECT_EQ(word.begin, 8u);
  EXPECT_FALSE(scanner.next(word));
}

TEST(WordScanner, KeepsNoMoreThanTheLimitOfALongWord) {
  const std::string text(1'000'000, 'a');
  WordScanner scanner(table(NormalisationOrder::Google, Case::Uncased), text, WordSources::Skip, 10);
  Word word;
  ASSERT_TRUE(scanner.next(word));
  EXPECT_EQ(word.utf8.size(), 10u);
  EXPECT_EQ(word.code_points, 1'000'000);
}

}  // namespace
}  // namespace eflops::text
