#include "data/objective_masking.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "pretrain_text.h"

namespace eflops::data {
namespace {

using testing::kFirstContinuing;
using testing::kFirstOrdinary;
using testing::kMask;
using testing::kSep;
using testing::one_segment;

const TokenRules& rules() {
  static const TokenRules kRules = testing::token_rules();
  return kRules;
}

struct Masked {
  std::vector<std::int32_t> tokens;
  std::vector<Prediction> predictions;
};

Masked mask(std::vector<std::int32_t> tokens, const ObjectiveOptions& options, std::uint64_t sample) {
  Random random(7, Purpose::MaskedTokens, sample);
  Masked out{.tokens = std::move(tokens), .predictions = {}};
  mask_tokens(out.tokens, rules(), options, random, out.predictions);
  return out;
}

// Python's round(length * 0.15) with at least 1: halves go to the even number (reference: Google BERT).
TEST(MaskCount, IsGooglesHalfToEvenCount) {
  constexpr std::pair<std::int64_t, std::int64_t> kGolden[] = {{3, 1},  {5, 1},   {10, 2},  {30, 4},
                                                               {50, 8}, {70, 10}, {128, 19}};
  for (const auto& [length, count] : kGolden) EXPECT_EQ(mask_count(length, {}), count) << length;
}

TEST(MaskCount, IsLimitedByMaxPredictionsAndOffAtZero) {
  EXPECT_EQ(mask_count(512, {}), 77);  // 76.8
  EXPECT_EQ(mask_count(512, {.max_predictions = 76}), 76);
  EXPECT_EQ(mask_count(512, {.mlm_probability = 0}), 0);
}

TEST(MaskTokens, LabelsAreTheOriginalsAndKindsSayWhatStandsThere) {
  const std::vector<std::int32_t> original = one_segment(126);
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    const Masked made = mask(original, {}, sample);
    ASSERT_EQ(made.predictions.size(), 19U);  // of 128 tokens
    std::vector<std::int32_t> restored = made.tokens;
    std::set<std::int32_t> positions;
    for (const Prediction& p : made.predictions) {
      ASSERT_TRUE(p.position >= 1 && p.position <= 126) << p.position;
      ASSERT_TRUE(positions.insert(p.position).second) << "chosen twice: " << p.position;
      const std::int32_t now = made.tokens[static_cast<std::size_t>(p.position)];
      if (p.kind == PredictionKind::Masked) {
        ASSERT_EQ(now, kMask);
      }
      if (p.kind == PredictionKind::Kept) {
        ASSERT_EQ(now, p.label);
      }
      if (p.kind == PredictionKind::Random) {
        ASSERT_GE(now, kFirstOrdinary);
      }
      restored[static_cast<std::size_t>(p.position)] = p.label;
    }
    ASSERT_EQ(restored, original);
  }
}

TEST(MaskTokens, EightyTenTenOfTheChosen) {
  std::array<std::int64_t, 3> kinds{};
  for (std::uint64_t sample = 0; sample < 1000; ++sample)
    for (const Prediction& p : mask(one_segment(126), {}, sample).predictions)
      ++kinds[static_cast<std::size_t>(p.kind)];
  // Each of n = 1000 * 19 draws is independent: Binomial(n, 0.8) has sd sqrt(19000 * 0.8 * 0.2) = 55.1, Binomial(n,
  // 0.1) sqrt(19000 * 0.1 * 0.9) = 41.4. Five sd are left by 6 seeds in 10 million.
  EXPECT_NEAR(static_cast<double>(kinds[0]), 15'200, 276);
  EXPECT_NEAR(static_cast<double>(kinds[1]), 1'900, 207);
  EXPECT_NEAR(static_cast<double>(kinds[2]), 1'900, 207);
}

TEST(MaskTokens, EveryPositionIsChosenEquallyOften) {
  std::array<std::int64_t, 12> chosen{};
  for (std::uint64_t sample = 0; sample < 5000; ++sample)
    for (const Prediction& p : mask(one_segment(10), {}, sample).predictions)
      ++chosen[static_cast<std::size_t>(p.position)];
  EXPECT_EQ(chosen.front() + chosen.back(), 0);  // [CLS] and [SEP]
  // 2 of 10 positions each time (12 * 0.15 = 1.8): Binomial(5000, 0.2) each, mean 1000, 5 sd = 141.
  for (std::size_t at = 1; at <= 10; ++at) EXPECT_NEAR(static_cast<double>(chosen[at]), 1000, 141) << at;
}

TEST(MaskTokens, RandomIdsAreOrdinaryUnlessAllAreAllowed) {
  ObjectiveOptions options{.mask_share = 0, .random_share = 1};
  std::int64_t low = 0;
  const auto draw = [&] {
    low = 0;
    for (std::uint64_t sample = 0; sample < 2000; ++sample) {
      const Masked made = mask(one_segment(126), options, sample);
      for (const Prediction& p : made.predictions)
        low += made.tokens[static_cast<std::size_t>(p.position)] < kFirstOrdinary;
    }
  };
  draw();
  EXPECT_EQ(low, 0);
  options.random_ids = RandomIds::All;
  draw();
  // 38,000 draws, 10 of 20,000 ids: mean 19, sd 4.4; five sd to each side.
  EXPECT_GT(low, 0);
  EXPECT_LE(low, 41);
}

TEST(MaskTokens, WholeWordChoosesAllPiecesOrNone) {
  // [CLS] and 25 words of pieces 1, 2, 3, 1, 2, ... and [SEP].
  std::vector<std::int32_t> tokens{testing::kCls};
  std::vector<std::int32_t> word_of{-1};
  for (std::int32_t word = 0; word < 25; ++word) {
    for (std::int32_t piece = 0; piece <= word % 3; ++piece) {
      tokens.push_back(piece == 0 ? kFirstOrdinary + word : kFirstContinuing + piece);
      word_of.push_back(word);
    }
  }
  tokens.push_back(kSep);
  const std::int64_t budget = mask_count(static_cast<std::int64_t>(tokens.size()), {});
  for (std::uint64_t sample = 0; sample < 300; ++sample) {
    const Masked made = mask(tokens, {.whole_word = true}, sample);
    std::array<std::int32_t, 25> pieces{};
    for (const Prediction& p : made.predictions)
      ++pieces[static_cast<std::size_t>(word_of[static_cast<std::size_t>(p.position)])];
    for (std::int32_t word = 0; word < 25; ++word) {
      const std::int32_t chosen = pieces[static_cast<std::size_t>(word)];
      ASSERT_TRUE(chosen == 0 || chosen == word % 3 + 1) << "word " << word << ": " << chosen;
    }
    // Words of one piece fill whatever a longer word left, and there are nine of them.
    ASSERT_EQ(static_cast<std::int64_t>(made.predictions.size()), budget);
  }
}

TEST(MaskTokens, AWordBeyondTheCountIsPassedOver) {
  // 8 tokens: 1 to choose; the word of five pieces is too long, so it is always the other one.
  const std::vector<std::int32_t> tokens{
      testing::kCls, 10, kFirstContinuing, kFirstContinuing, kFirstContinuing, kFirstContinuing, 11, kSep};
  for (std::uint64_t sample = 0; sample < 50; ++sample) {
    const Masked made = mask(tokens, {.whole_word = true}, sample);
    ASSERT_EQ(made.predictions.size(), 1U);
    ASSERT_EQ(made.predictions[0].position, 6);
  }
}

TEST(MaskTokens, AWordDoesNotReachAcrossASeparator) {
  // The second segment was cut at its front and begins with a piece: it is a word of its own, not part of `10`.
  const std::vector<std::int32_t> tokens{testing::kCls, 10, kSep, kFirstContinuing, kSep};
  for (std::uint64_t sample = 0; sample < 50; ++sample)
    ASSERT_EQ(mask(tokens, {.whole_word = true}, sample).predictions.size(), 1U);  // 5 tokens: 1 to choose
}

TEST(MaskTokens, NothingToChooseGivesNoPrediction) {
  EXPECT_TRUE(mask({testing::kCls, kSep}, {}, 0).predictions.empty());
  EXPECT_TRUE(mask(one_segment(20), {.mlm_probability = 0}, 0).predictions.empty());
  // A [MASK] that stood in the text itself is not predicted: nobody knows what it was.
  EXPECT_TRUE(mask({testing::kCls, kMask, kSep}, {}, 0).predictions.empty());
}

}  // namespace
}  // namespace eflops::data
