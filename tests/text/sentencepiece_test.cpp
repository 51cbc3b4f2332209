#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/data_folder.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/sentencepiece_trainer.h"

namespace eflops::text {
namespace {

using ::testing::HasSubstr;

/// Sentences over a few words: enough for a small model, with no data folder.
std::function<bool(std::string&)> toy_sentences(std::size_t count) {
  return [count, i = std::size_t{0}](std::string& sentence) mutable {
    if (i == count) return false;
    static constexpr const char* kWords[] = {"alpha", "beta", "gamma", "delta", "alphabet", "gambit"};
    sentence = std::string(kWords[i % 6]) + " " + kWords[i / 6 % 6] + " " + kWords[i / 36 % 6];
    ++i;
    return true;
  };
}

std::string train_toy(SentencePieceKind kind) {
  return train_sentencepiece(toy_sentences(300), {.kind = kind, .vocabulary_size = 22});
}

class BothKinds : public ::testing::TestWithParam<SentencePieceKind> {};

TEST_P(BothKinds, TrainsTheSameBytesAgain) { EXPECT_EQ(train_toy(GetParam()), train_toy(GetParam())); }

TEST_P(BothKinds, TheModelServesPretraining) {
  const SentencePieceTokenizer tokenizer(train_toy(GetParam()), "toy");
  EXPECT_EQ(tokenizer.size(), 22);
  EXPECT_NO_THROW(require_pretraining_specials(tokenizer));
  const SpecialIds ids = tokenizer.specials();
  EXPECT_EQ(std::vector<std::int32_t>({ids.pad, ids.unknown, ids.cls, ids.sep, ids.mask}),
            std::vector<std::int32_t>({0, 1, 2, 3, 4}));
  EXPECT_EQ(tokenizer.piece(4), "[MASK]");
  EXPECT_TRUE(tokenizer.is_special(4));
}

TEST_P(BothKinds, TextComesBack) {
  const SentencePieceTokenizer tokenizer(train_toy(GetParam()), "toy");
  std::vector<std::int32_t> ids;
  tokenizer.encode_ids("alphabet gamma", ids);
  EXPECT_EQ(tokenizer.decode(ids), "alphabet gamma");
  ids.insert(ids.begin(), 2);
  ids.push_back(4);
  EXPECT_EQ(tokenizer.decode(ids), "[CLS] alphabet gamma [MASK]");
}

TEST_P(BothKinds, OffsetsCoverTheTextInCodePoints) {
  const SentencePieceTokenizer tokenizer(train_toy(GetParam()), "toy");
  // The byte that is not UTF-8 counts nothing; the unknown ideograph is one code point of three bytes.
  std::vector<Token> tokens;
  tokenizer.encode("alpha\xFF \u4e2d beta", tokens);
  ASSERT_FALSE(tokens.empty());
  EXPECT_EQ(tokens.front().begin, 0u);
  EXPECT_EQ(tokens.back().end, 12u);  // 5 + blank + 1 + blank + 4
  std::vector<std::int32_t> ids;
  tokenizer.encode_ids("alpha\xFF \u4e2d beta", ids);
  ASSERT_EQ(ids.size(), tokens.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(ids[i], tokens[i].id);
    EXPECT_LE(tokens[i].begin, tokens[i].end);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BothKinds, ::testing::Values(SentencePieceKind::Unigram, SentencePieceKind::Bpe));

TEST(SentencePieceTrainer, TakesNoMoreSentencesThanAsked) {
  std::size_t pulled = 0;
  const auto inner = toy_sentences(300);
  const auto counted = [&](std::string& sentence) {
    ++pulled;
    return inner(sentence);
  };
  train_sentencepiece(counted, {.kind = SentencePieceKind::Bpe, .vocabulary_size = 22, .max_sentences = 100});
  EXPECT_EQ(pulled, 100u);
}

TEST(SentencePieceTrainer, RefusesNoTextAndTooManyPieces) {
  EXPECT_THROW(train_sentencepiece([](std::string&) { return false; }, {}), DataError);
  EXPECT_THROW(train_sentencepiece(toy_sentences(300), {.vocabulary_size = 30000}), DataError);
}

TEST(SentencePieceTokenizer, MapsTheSpecialsOfT5AndMissesItsMask) {
  EFLOPS_NEED_DATA(data);
  const SentencePieceTokenizer t5(read_file(data / "spm" / "t5_base.model"), "t5_base.model");
  EXPECT_EQ(t5.size(), 32000);
  EXPECT_EQ(t5.specials().pad, 0);
  EXPECT_EQ(t5.specials().sep, 1);  // </s>
  EXPECT_EQ(t5.specials().unknown, 2);
  EXPECT_EQ(t5.specials().mask, -1);
  try {
    require_pretraining_specials(t5);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing: start ([CLS], <cls> or <s>); mask ([MASK] or <mask>)"));
  }
}

TEST(SentencePieceTokenizer, KnowsWhatContinuesAWord) {
  EFLOPS_NEED_DATA(data);
  const SentencePieceTokenizer t5(read_file(data / "spm" / "t5_base.model"), "t5_base.model");
  std::vector<std::int32_t> ids;
  t5.encode_ids("unflinchingly bleak", ids);  // reference: _un f l inch ing ly _ ble ak
  std::string borders;
  for (const std::int32_t id : ids) borders += t5.continues_word(id) ? '-' : '|';
  EXPECT_EQ(borders, "|-----|--");
}

}  // namespace
}  // namespace eflops::text
