#include "programs/pretrain_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace eflops::programs {
namespace {

using data::PredictionKind;
using ::testing::HasSubstr;

// Two predictions masked (one right), three shuffled in place of 7 8 9: the text shows 8 7 9, so copying gets one
// right.
data::PackedTextBatch batch() {
  data::PackedTextBatch all;
  all.tokens = {2, 4, 4, 8, 7, 9, 3};
  all.offsets = {0, 7};
  all.predicted_rows = {1, 2, 3, 4, 5};
  all.predicted_labels = {5, 6, 7, 8, 9};
  all.predicted_kinds = {PredictionKind::Masked, PredictionKind::Random, PredictionKind::Shuffled,
                         PredictionKind::Shuffled, PredictionKind::Shuffled};
  all.sentence_labels = {1};
  return all;
}

const std::vector<float> kLosses{1.0F, 2.0F, 0.5F, 0.5F, 0.5F};
const std::vector<std::int32_t> kTokens{5, 5, 7, 8, 7};
const std::vector<std::int32_t> kSentences{1};

TEST(PretrainScores, CountsMaskedAndShuffledTokensApart) {
  PretrainScores scores;
  scores.add(batch(), {kLosses, kTokens, kSentences}, nullptr);
  EXPECT_EQ(scores.masked.right, 1);
  EXPECT_EQ(scores.masked.all, 2);
  EXPECT_EQ(scores.shuffled.right, 2);
  EXPECT_EQ(scores.shuffled.all, 3);
  EXPECT_EQ(scores.shuffled_baseline.right, 1);
  EXPECT_EQ(scores.sentence.right, 1);
  EXPECT_DOUBLE_EQ(scores.masked_perplexity(), std::exp(1.5));
}

// Corpus 5 5 6: the most frequent piece is 5, with (2 + 1) / (3 + 10) of the mass.
TEST(PretrainScores, TheUnigramBaselineNamesTheMostFrequentToken) {
  const UnigramBaseline unigram(data::Corpus::from_documents({{{5, 5, 6}}}, 10));
  EXPECT_EQ(unigram.best(), 5);
  EXPECT_DOUBLE_EQ(unigram.loss(5), -std::log(3.0 / 13));
  EXPECT_DOUBLE_EQ(unigram.loss(9), -std::log(1.0 / 13));
  PretrainScores scores;
  scores.add(batch(), {kLosses, kTokens, kSentences}, &unigram);
  EXPECT_EQ(scores.masked_baseline.right, 1);
  EXPECT_EQ(scores.masked_baseline.all, 2);
}

TEST(PretrainScores, TheSentenceBaselineIsTheMostFrequentClass) {
  PretrainScores scores;
  scores.sentence = {3, 6};
  scores.sentence_classes = {1, 4, 1};
  EXPECT_EQ(scores.sentence_baseline().right, 4);
  EXPECT_EQ(scores.sentence_baseline().all, 6);
}

TEST(PretrainScores, WhatWasNotAskedIsNotReported) {
  PretrainScores scores;
  scores.masked = {10, 100};
  scores.masked_baseline = {5, 100};
  scores.masked_loss = 400;
  const std::string table = score_table(scores);
  EXPECT_THAT(table, HasSubstr("masked tokens"));
  EXPECT_THAT(table, ::testing::Not(HasSubstr("shuffled tokens")));
  EXPECT_EQ(scores.metrics().size(), 3U);
}

// 90 of 100 against 50 of 100 is beyond both intervals; 52 against 50 is not.
TEST(PretrainScores, TheTableSaysWhetherTheDifferenceIsReal) {
  PretrainScores scores;
  scores.masked = {90, 100};
  scores.masked_baseline = {50, 100};
  scores.shuffled = {52, 100};
  scores.shuffled_baseline = {50, 100};
  const std::string table = score_table(scores);
  EXPECT_THAT(table, ::testing::ContainsRegex("masked tokens .* above\n"));
  EXPECT_THAT(table, ::testing::ContainsRegex("shuffled tokens .* not told apart\n"));
}

}  // namespace
}  // namespace eflops::programs
