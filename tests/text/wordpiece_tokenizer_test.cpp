#include "text/wordpiece_tokenizer.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace eflops::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int32_t kUnk = 1;

/// Ids 0 to 4 are the specials, 5 un, 6 ##aff, 7 ##able, 8 a, 9 ##a, 10 b, then some more.
std::vector<std::string> toy_pieces() {
  return {"[PAD]", "[UNK]", "[CLS]",  "[SEP]", "[MASK]", "un", "##aff", "##able", "a",        "##a", "b",
          "cafe",  "##s",   "\u4e2d", "!",     "[",      "]",  "mask",  "\u1100", "##\u1161", "##b"};
}

WordPieceTokenizer toy(const WordPieceSettings& settings = {}) { return {toy_pieces(), settings, "toy"}; }

WordPieceSettings hf_settings() {
  WordPieceSettings settings;
  settings.rules.order = NormalisationOrder::HuggingFace;
  return settings;
}

std::vector<std::int32_t> ids(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> out;
  tokenizer.encode_ids(text, out);
  return out;
}

std::vector<Token> tokens(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<Token> out;
  tokenizer.encode(text, out);
  return out;
}

// bert.md 1.2, the WordPiece vocabulary.
TEST(WordPieceTokenizer, CoversWordsWithTheLongestPieces) {
  const WordPieceTokenizer tokenizer = toy();
  EXPECT_THAT(ids(tokenizer, "unaffable"), ElementsAre(5, 6, 7));
  EXPECT_THAT(ids(tokenizer, "unaffablex"), ElementsAre(kUnk));  // one piece missing: the whole word
  EXPECT_THAT(ids(tokenizer, "UnAffAble UN"), ElementsAre(5, 6, 7, 5));
  EXPECT_THAT(ids(tokenizer, ""), IsEmpty());
}

TEST(WordPieceTokenizer, AWordThatIsAContinuationPieceItselfIsThatPiece) {
  std::vector<std::int32_t> out;
  toy().encode_word("##aff", out);
  EXPECT_THAT(out, ElementsAre(6));
}

TEST(WordPieceTokenizer, WordsPastTheLimitAreUnknown) {
  WordPieceSettings settings;
  settings.max_word_chars = 200;
  const WordPieceTokenizer tokenizer = toy(settings);
  EXPECT_EQ(ids(tokenizer, std::string(200, 'a')).size(), 200u);
  EXPECT_THAT(ids(tokenizer, std::string(201, 'a')), ElementsAre(kUnk));
  EXPECT_EQ(ids(toy(), std::string(100, 'a')).size(), 100u);
  EXPECT_THAT(ids(toy(), std::string(101, 'a')), ElementsAre(kUnk));
}

TEST(WordPieceTokenizer, TheLimitCountsCharactersAfterNormalisation) {
  std::string accented;
  for (int i = 0; i < 100; ++i) accented += "a\u0301";  // 200 code points, 100 once the marks are gone
  EXPECT_EQ(ids(toy(), accented).size(), 100u);
  EXPECT_THAT(ids(toy(), accented + "a"), ElementsAre(kUnk));
}

TEST(WordPieceTokenizer, AMegabyteWithoutABlankIsOneUnknownWord) {
  EXPECT_THAT(ids(toy(), std::string(1 << 20, 'a')), ElementsAre(kUnk));
  EXPECT_THAT(tokens(toy(), std::string(1 << 20, 'a')), ElementsAre(Token{kUnk, 0, 1 << 20}));
}

TEST(WordPieceTokenizer, OffsetsCountCodePointsOfTheOriginalText) {
  const WordPieceTokenizer tokenizer = toy();
  EXPECT_THAT(tokens(tokenizer, "unaffable a"),
              ElementsAre(Token{5, 0, 2}, Token{6, 2, 5}, Token{7, 5, 9}, Token{8, 10, 11}));
  // 0 c, 1 a, 2 f, 3 e with acute, 4 s; the same decomposed is one code point longer.
  EXPECT_THAT(tokens(tokenizer, "caf\u00e9s"), ElementsAre(Token{11, 0, 4}, Token{12, 4, 5}));
  EXPECT_THAT(tokens(tokenizer, "cafe\u0301s b"), ElementsAre(Token{11, 0, 4}, Token{12, 5, 6}, Token{10, 7, 8}));
  // A deleted character inside is covered, one at the border is not.
  EXPECT_THAT(tokens(tokenizer, "\u200bu\u00adn\u200b b"), ElementsAre(Token{5, 1, 4}, Token{10, 6, 7}));
  // Bytes that are not UTF-8 are no code points.
  EXPECT_THAT(tokens(tokenizer, "u\xFFn\xE4\xB8 b"), ElementsAre(Token{5, 0, 2}, Token{10, 3, 4}));
  EXPECT_THAT(tokens(tokenizer, "a\u4e2db!"),
              ElementsAre(Token{8, 0, 1}, Token{13, 1, 2}, Token{10, 2, 3}, Token{14, 3, 4}));
  // Both letters of a Hangul syllable come from one code point.
  EXPECT_THAT(tokens(tokenizer, "b \uac00"), ElementsAre(Token{10, 0, 1}, Token{18, 2, 3}, Token{19, 2, 3}));
  EXPECT_THAT(tokens(tokenizer, "b xyz\u0301 a"), ElementsAre(Token{10, 0, 1}, Token{kUnk, 2, 5}, Token{8, 7, 8}));
}

TEST(WordPieceTokenizer, GoogleReadsSpecialsInTextAsText) {
  EXPECT_THAT(ids(toy(), "a [MASK]"), ElementsAre(8, 15, 17, 16));
}

TEST(WordPieceTokenizer, HuggingFaceKeepsSpecialsInTextWhole) {
  const WordPieceTokenizer tokenizer = toy(hf_settings());
  EXPECT_THAT(tokens(tokenizer, "\u00e1 [MASK]b[[SEP][mask]"),
              ElementsAre(Token{8, 0, 1}, Token{4, 2, 8}, Token{10, 8, 9}, Token{15, 9, 10}, Token{3, 10, 15},
                          Token{15, 15, 16}, Token{17, 16, 20}, Token{16, 20, 21}));
  EXPECT_THAT(ids(tokenizer, "\u00e1 [MASK]b[[SEP][mask]"), ElementsAre(8, 4, 10, 15, 3, 15, 17, 16));
}

TEST(WordPieceTokenizer, CharactersOutsideAsciiInsideAWordTakeTheSamePath) {
  for (const char* text :
       {"un\u00e1ffable", "unaff\u0301able", "b\u200ba", "\u00e1!", "!\u00e1", "a\u0001b", "\xFF", "a\xFF"}) {
    const WordPieceTokenizer tokenizer = toy();
    std::vector<std::int32_t> from_tokens;
    for (const Token& token : tokens(tokenizer, text)) from_tokens.push_back(token.id);
    EXPECT_EQ(ids(tokenizer, text), from_tokens) << text;
  }
}

TEST(WordPieceTokenizer, AppendsToWhatIsThere) {
  std::vector<std::int32_t> out = {77};
  toy().encode_ids("x", out);
  EXPECT_THAT(out, ElementsAre(77, kUnk));
}

TEST(WordPieceTokenizer, KnowsContinuationsAndSpecials) {
  const WordPieceTokenizer tokenizer = toy();
  EXPECT_TRUE(tokenizer.continues_word(6));
  EXPECT_FALSE(tokenizer.continues_word(5));
  EXPECT_TRUE(tokenizer.is_special(4));
  EXPECT_FALSE(tokenizer.is_special(5));
  EXPECT_EQ(tokenizer.specials().mask, 4);
  EXPECT_EQ(tokenizer.piece(7), "##able");
  EXPECT_THROW(tokenizer.piece(21), InternalError);
}

TEST(WordPieceTokenizer, DecodesToReadableText) {
  std::vector<std::string> pieces = toy_pieces();
  for (const char* more : {"don", "'", "t", "(", ")", ",", "stop"}) pieces.emplace_back(more);
  const WordPieceTokenizer tokenizer(pieces, {}, "toy");
  std::vector<std::int32_t> encoded = {2};
  tokenizer.encode_ids("don't stop, unaffable (b)!", encoded);
  encoded.push_back(3);
  EXPECT_EQ(tokenizer.decode(encoded), "[CLS] don't stop, unaffable (b)! [SEP]");
}

TEST(WordPieceTokenizer, HashesEverySwitchAndThePieces) {
  std::vector<WordPieceSettings> variants(6);
  variants[1].rules.order = NormalisationOrder::HuggingFace;
  variants[2].rules.lower_case = false;
  variants[3].rules.strip_accents = false;
  variants[4].rules.isolate_cjk = false;
  variants[5].max_word_chars = 200;
  std::vector<std::uint64_t> hashes;
  for (const WordPieceSettings& settings : variants) hashes.push_back(toy(settings).hash());
  std::vector<std::string> swapped = toy_pieces();
  std::swap(swapped[5], swapped[8]);
  hashes.push_back(WordPieceTokenizer(swapped, {}, "toy").hash());
  for (std::size_t i = 0; i < hashes.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(hashes[i], hashes[j]) << i << " and " << j;
  EXPECT_EQ(hashes[0], toy().hash());
}

TEST(WordPieceTokenizer, WorksWithoutContinuationPieces) {
  const WordPieceTokenizer tokenizer({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"}, {}, "toy");
  EXPECT_THAT(ids(tokenizer, "a aa"), ElementsAre(5, kUnk));
}

}  // namespace
}  // namespace eflops::text
