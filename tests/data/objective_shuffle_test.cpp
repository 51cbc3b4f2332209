#include "data/objective_shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "data/objective_masking.h"
#include "pretrain_text.h"

namespace eflops::data {
namespace {

using testing::chi_square;
using testing::kCls;
using testing::kFirstOrdinary;
using testing::kSep;

const TokenRules& rules() {
  static const TokenRules kRules = testing::token_rules();
  return kRules;
}

TokenSequence sequence_of(std::vector<std::int32_t> tokens) {
  TokenSequence sequence{.tokens = std::move(tokens)};
  std::int32_t segment = 0;
  for (const std::int32_t token : sequence.tokens) {
    sequence.segments.push_back(segment);
    segment += token == kSep;
  }
  return sequence;
}

TokenSequence shuffled(TokenSequence sequence, const ObjectiveOptions& options, std::uint64_t sample) {
  Random random(5, Purpose::ShuffledTokens, sample);
  shuffle_tokens(sequence, rules(), options, random);
  return sequence;
}

/// [CLS] a x [SEP] b x [SEP] of different ids, masked.
TokenSequence masked_pair(std::int32_t a, std::int32_t b, std::uint64_t sample) {
  std::vector<std::int32_t> tokens = testing::one_segment(a);
  for (std::int32_t i = 0; i < b; ++i) tokens.push_back(kFirstOrdinary + a + i);
  tokens.push_back(kSep);
  TokenSequence sequence = sequence_of(std::move(tokens));
  Random random(5, Purpose::MaskedTokens, sample);
  mask_tokens(sequence.tokens, rules(), {}, random, sequence.predictions);
  return sequence;
}

std::vector<Prediction> shuffled_only(const TokenSequence& sequence) {
  std::vector<Prediction> found;
  for (const Prediction& p : sequence.predictions)
    if (p.kind == PredictionKind::Shuffled) found.push_back(p);
  return found;
}

TEST(ShuffleCount, RoundsHalfToEvenAndIsAtLeastOne) {
  // 0.05 * 10 = 0.5 -> 0 -> 1; 30: 1.5 -> 2; 50: 2.5 -> 2; 70: 3.5 -> 4; 125: 6.25 -> 6.
  constexpr std::pair<std::int64_t, std::int64_t> kGolden[] = {{0, 1}, {10, 1}, {30, 2}, {50, 2}, {70, 4}, {125, 6}};
  for (const auto& [tokens, spans] : kGolden) EXPECT_EQ(shuffle_count(tokens, 0, {}), spans) << tokens;
}

TEST(ShuffleCount, OfUnmaskedLeavesTheMaskedOut) {
  EXPECT_EQ(shuffle_count(125, 19, {}), 6);
  // (125 - 19) * 0.05 = 5.3
  EXPECT_EQ(shuffle_count(125, 19, {.shuffle_reading = ShuffleReading::OfUnmasked}), 5);
}

TEST(ShuffleTokens, SpansAreDisjointUnmaskedAndInsideOneSegment) {
  for (std::uint64_t sample = 0; sample < 500; ++sample) {
    const TokenSequence before = masked_pair(40, 85, sample);
    const TokenSequence after = shuffled(before, {}, sample);
    std::vector<Prediction> spans = shuffled_only(after);
    // 125 tokens: 6 spans of 3, unless masks leave too little room, which 106 free tokens in at most 21 runs never do.
    ASSERT_EQ(spans.size(), 18U);
    std::vector<bool> used(before.tokens.size(), false);
    for (const Prediction& p : before.predictions) used[static_cast<std::size_t>(p.position)] = true;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto at = static_cast<std::size_t>(spans[i].position);
      ASSERT_FALSE(used[at]) << "masked or shuffled before: " << at;
      used[at] = true;
      ASSERT_FALSE(rules().fixed[static_cast<std::size_t>(before.tokens[at])]);
      ASSERT_EQ(spans[i].position, spans[i - i % 3].position + static_cast<std::int32_t>(i % 3));
      ASSERT_EQ(after.segments[at], after.segments[static_cast<std::size_t>(spans[i - i % 3].position)]);
      ASSERT_EQ(spans[i].label, before.tokens[at]);  // the original token at its original place
    }
    // Every span holds its own tokens; everything else is as it was.
    std::vector<std::int32_t> restored = after.tokens;
    for (std::size_t i = 0; i < spans.size(); i += 3) {
      std::vector<std::int32_t> labels;
      std::vector<std::int32_t> now;
      for (std::size_t j = i; j < i + 3; ++j) {
        labels.push_back(spans[j].label);
        now.push_back(after.tokens[static_cast<std::size_t>(spans[j].position)]);
        restored[static_cast<std::size_t>(spans[j].position)] = spans[j].label;
      }
      ASSERT_TRUE(std::ranges::is_permutation(labels, now));
    }
    ASSERT_EQ(restored, before.tokens);
  }
}

/// How often each order of the one span of `[CLS] x y z [SEP]` comes up.
std::map<std::vector<std::int32_t>, std::int64_t> orders(const ObjectiveOptions& options, std::uint64_t samples) {
  std::map<std::vector<std::int32_t>, std::int64_t> seen;
  for (std::uint64_t sample = 0; sample < samples; ++sample)
    ++seen[shuffled(sequence_of(testing::one_segment(3)), options, sample).tokens];
  return seen;
}

std::vector<std::int64_t> values(const std::map<std::vector<std::int32_t>, std::int64_t>& counts) {
  std::vector<std::int64_t> all;
  for (const auto& [key, count] : counts) all.push_back(count);
  return all;
}

TEST(ShuffleTokens, AllSixOrdersAreEquallyLikely) {
  const auto seen = orders({}, 6000);
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_TRUE(seen.contains(testing::one_segment(3)));  // the identity is one of them
  EXPECT_LT(chi_square(values(seen)), 25.7);            // 99.99 % point of chi-square with 5 degrees
}

TEST(ShuffleTokens, WithoutIdentityTheOtherFiveAreEquallyLikely) {
  const auto seen = orders({.shuffle_identity = false}, 5000);
  ASSERT_EQ(seen.size(), 5U);
  EXPECT_FALSE(seen.contains(testing::one_segment(3)));
  EXPECT_LT(chi_square(values(seen)), 23.5);  // 99.99 % point with 4 degrees
}

TEST(ShuffleTokens, EveryWindowIsEquallyLikely) {
  std::array<std::int64_t, 8> starts{};  // 10 tokens hold windows at 1 ... 8
  for (std::uint64_t sample = 0; sample < 8000; ++sample) {
    const auto spans = shuffled_only(shuffled(sequence_of(testing::one_segment(10)), {}, sample));
    ASSERT_EQ(spans.size(), 3U);
    ++starts[static_cast<std::size_t>(spans[0].position - 1)];
  }
  EXPECT_LT(chi_square(starts), 29.9);  // 99.99 % point with 7 degrees
}

TEST(ShuffleTokens, EachDrawIsUniformOverTheWindowsLeft) {
  // Six tokens, two spans wanted (6 * 0.33 = 1.98). Windows start at 1, 2, 3, 4, each drawn first with 1/4. After 1
  // only 4 is left and the reverse; after 2 or 3 none is. So {1, 4} comes with 1/2, {2} and {3} with 1/4 each: four
  // equal outcomes when {1, 4} is counted by which came first.
  std::array<std::int64_t, 4> first{};
  for (std::uint64_t sample = 0; sample < 8000; ++sample) {
    const auto spans = shuffled_only(shuffled(sequence_of(testing::one_segment(6)), {.shuffle_share = 0.33}, sample));
    const std::int32_t start = spans[0].position;
    ++first[static_cast<std::size_t>(start - 1)];
    if (start == 2 || start == 3) {
      ASSERT_EQ(spans.size(), 3U);
    } else {
      ASSERT_EQ(spans.size(), 6U);
      ASSERT_EQ(spans[3].position, 5 - start);
    }
  }
  EXPECT_LT(chi_square(first), 21.1);  // 99.99 % point with 3 degrees
}

TEST(ShuffleTokens, FewerSpansWhereTooFewFit) {
  EXPECT_TRUE(shuffled(sequence_of({kCls, 10, 11, kSep}), {}, 0).predictions.empty());
  EXPECT_TRUE(shuffled(sequence_of({kCls, kSep}), {}, 0).predictions.empty());
  // Two tokens on each side of a separator are no trigram.
  EXPECT_TRUE(shuffled(sequence_of({kCls, 10, 11, kSep, 12, 13, kSep}), {}, 0).predictions.empty());
  // Half of all tokens as starts: 5 spans wanted of 10 tokens, at most 3 fit.
  EXPECT_LE(shuffled(sequence_of(testing::one_segment(10)), {.shuffle_share = 0.5}, 0).predictions.size(), 9U);
}

TEST(ShuffleTokens, ChangedOnlyPredictsExactlyThePositionsThatDiffer) {
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    const TokenSequence before = sequence_of(testing::one_segment(60));
    const TokenSequence after = shuffled(before, {.shuffle_targets = ShuffleTargets::ChangedOnly}, sample);
    std::size_t changed = 0;
    for (std::size_t at = 0; at < before.tokens.size(); ++at) changed += before.tokens[at] != after.tokens[at];
    ASSERT_EQ(after.predictions.size(), changed);
    for (const Prediction& p : after.predictions) {
      ASSERT_EQ(p.label, before.tokens[static_cast<std::size_t>(p.position)]);
      ASSERT_NE(p.label, after.tokens[static_cast<std::size_t>(p.position)]);
    }
  }
}

TEST(ShuffleTokens, KeepsTokensOfALongerSpanTogether) {
  const TokenSequence before = sequence_of(testing::one_segment(20));
  const TokenSequence after = shuffled(before, {.shuffle_span = 5}, 1);
  ASSERT_EQ(after.predictions.size(), 5U);  // 20 * 0.05 = 1 span
  const auto start = static_cast<std::size_t>(after.predictions[0].position);
  EXPECT_TRUE(std::is_permutation(before.tokens.begin() + static_cast<std::ptrdiff_t>(start),
                                  before.tokens.begin() + static_cast<std::ptrdiff_t>(start) + 5,
                                  after.tokens.begin() + static_cast<std::ptrdiff_t>(start)));
}

TEST(ShuffleTokens, PerStartPredictsChangedUncoveredPositionsOnly) {
  const ObjectiveOptions options{.shuffle_reading = ShuffleReading::PerStart, .shuffle_start_probability = 0.5};
  std::int64_t masks_moved = 0;
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    const TokenSequence before = masked_pair(40, 85, sample);
    const TokenSequence after = shuffled(before, options, sample);
    std::vector<bool> covered(before.tokens.size(), false);
    for (const Prediction& p : before.predictions) covered[static_cast<std::size_t>(p.position)] = true;
    for (const Prediction& p : before.predictions)
      masks_moved +=
          after.tokens[static_cast<std::size_t>(p.position)] != before.tokens[static_cast<std::size_t>(p.position)];
    for (const Prediction& p : shuffled_only(after)) {
      const auto at = static_cast<std::size_t>(p.position);
      ASSERT_FALSE(covered[at]) << "predicted twice: " << at;
      covered[at] = true;
      ASSERT_EQ(p.label, before.tokens[at]);
    }
    for (std::size_t at = 0; at < covered.size(); ++at) {
      if (!covered[at]) {
        ASSERT_EQ(after.tokens[at], before.tokens[at]);
      }
    }
    ASSERT_TRUE(std::ranges::is_permutation(after.tokens, before.tokens));
  }
  EXPECT_GT(masks_moved, 0);  // AliceMind does not spare masked tokens
}

TEST(ShuffleTokens, PerStartTakesEachStartWithItsProbability) {
  // Of 60 tokens, 58 starts, each taken with 0.1 and labelled when first changed. Counted by shuffled sequences here:
  // none is taken with 0.9^58 = 0.0022, or every taken one drew the identity: E[(5/6)] per start, so a sequence stays
  // as it was with (1 - 0.1 * 5/6)^58 = 0.0064 at least; overlaps that undo each other add little.
  std::int64_t unchanged = 0;
  const ObjectiveOptions options{.shuffle_reading = ShuffleReading::PerStart};
  const TokenSequence before = sequence_of(testing::one_segment(60));
  for (std::uint64_t sample = 0; sample < 10'000; ++sample)
    unchanged += shuffled(before, options, sample).tokens == before.tokens;
  // Binomial(10000, 0.0064): mean 64, sd 8; five sd to each side.
  EXPECT_NEAR(static_cast<double>(unchanged), 64, 40);
}

TEST(ShuffleTokens, PerStartNeverExceedsTheLimitOfPredictions) {
  const ObjectiveOptions options{
      .max_predictions = 22, .shuffle_reading = ShuffleReading::PerStart, .shuffle_start_probability = 0.9};
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    const TokenSequence after = shuffled(masked_pair(40, 85, sample), options, sample);
    ASSERT_LE(after.predictions.size(), 22U);
    ASSERT_GT(after.predictions.size(), 19U);
  }
}

}  // namespace
}  // namespace eflops::data
