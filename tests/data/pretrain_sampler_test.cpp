#include "data/pretrain_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "data/loader.h"
#include "pretrain_text.h"

namespace eflops::data {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kSeed = 31;

Corpus small_corpus() {
  return Corpus::from_documents(
      testing::counting_documents({{5, 9, 12, 3, 20}, {7, 7}, {30, 2, 2, 18, 6, 9}, {4}, {11, 8, 40}}),
      testing::kVocabulary);
}

PretrainSampler small_sampler(std::uint64_t seed = kSeed) {
  return {small_corpus(), testing::token_rules(), {.max_seq_length = 32}, seed};
}

void expect_equal(const PackedTextBatch& a, const PackedTextBatch& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.segments, b.segments);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.predicted_rows, b.predicted_rows);
  EXPECT_EQ(a.predicted_labels, b.predicted_labels);
  EXPECT_EQ(a.predicted_kinds, b.predicted_kinds);
  EXPECT_EQ(a.sentence_labels, b.sentence_labels);
  EXPECT_EQ(a.sample_keys, b.sample_keys);
}

std::vector<PretrainBatch> take(PretrainStream& stream, int steps, const BatchCut& cut) {
  std::vector<PretrainBatch> batches;
  for (int step = 0; step < steps; ++step) batches.push_back(stream.next(cut));
  return batches;
}

PackedTextBatch joined(const std::vector<PretrainBatch>& batches) {
  PackedTextBatch all;
  for (const PretrainBatch& batch : batches) {
    for (const PackedTextBatch& shard : batch.shards) {
      const std::int32_t rows = all.offsets.back();
      all.tokens.insert(all.tokens.end(), shard.tokens.begin(), shard.tokens.end());
      all.segments.insert(all.segments.end(), shard.segments.begin(), shard.segments.end());
      for (std::size_t b = 1; b < shard.offsets.size(); ++b) all.offsets.push_back(rows + shard.offsets[b]);
      for (const std::int32_t row : shard.predicted_rows) all.predicted_rows.push_back(rows + row);
      all.predicted_labels.insert(all.predicted_labels.end(), shard.predicted_labels.begin(),
                                  shard.predicted_labels.end());
      all.predicted_kinds.insert(all.predicted_kinds.end(), shard.predicted_kinds.begin(), shard.predicted_kinds.end());
      all.sentence_labels.insert(all.sentence_labels.end(), shard.sentence_labels.begin(), shard.sentence_labels.end());
      all.sample_keys.insert(all.sample_keys.end(), shard.sample_keys.begin(), shard.sample_keys.end());
    }
  }
  return all;
}

// Known fault T32: a resumed run sees other data than the uninterrupted one, most often across the end of an epoch.
TEST(PretrainStream, ResumesExactlyAnyNumberOfTimes) {
  const PretrainSampler sampler = small_sampler();
  const BatchCut cut{.global_batch = 4};
  PretrainStream whole(sampler);
  const auto expected = take(whole, 20, cut);
  ASSERT_GT(expected[6].end.epoch, 0) << "no epoch ends before the first stop";

  std::vector<PretrainBatch> parts;
  StreamPosition at;
  for (const int steps : {7, 6, 7}) {
    const PretrainSampler again = small_sampler();
    PretrainStream stream(again, at);
    for (PretrainBatch& batch : take(stream, steps, cut)) parts.push_back(std::move(batch));
    at = parts.back().end;
  }
  ASSERT_EQ(parts.size(), 20U);
  for (std::size_t step = 0; step < 20; ++step) {
    expect_equal(parts[step].shards[0], expected[step].shards[0]);
    EXPECT_EQ(parts[step].end, expected[step].end);
  }
}

TEST(PretrainStream, ResumesAtTheVeryEndOfAnEpoch) {
  const PretrainSampler sampler = small_sampler();
  const std::int64_t size = sampler.plan(0).size();
  PretrainStream whole(sampler);
  const PretrainBatch first = whole.next({.global_batch = size});
  EXPECT_EQ(first.end, (StreamPosition{0, size}));
  PretrainStream resumed(sampler, first.end);
  expect_equal(resumed.next({.global_batch = 3}).shards[0], whole.next({.global_batch = 3}).shards[0]);
}

TEST(PretrainStream, SamplesDoNotDependOnTheBatchSize) {
  const PretrainSampler sampler = small_sampler();
  PretrainStream by_three(sampler);
  PretrainStream by_twelve(sampler);
  expect_equal(joined(take(by_three, 8, {.global_batch = 3})), joined(take(by_twelve, 2, {.global_batch = 12})));
}

TEST(PretrainStream, MicroShardsAreTheGlobalBatchInOrder) {
  const PretrainSampler sampler = small_sampler();
  PretrainStream whole(sampler);
  PretrainStream cut(sampler);
  expect_equal(joined(take(cut, 3, {.global_batch = 10, .shards = 4, .shard_count = 4})),
               joined(take(whole, 3, {.global_batch = 10})));
}

// Known fault T40: ranks that see the same samples, or the same order in every epoch.
TEST(PretrainStream, RanksCoverEachEpochDisjointly) {
  const PretrainSampler sampler = small_sampler();
  const std::int64_t size = sampler.plan(0).size();
  PretrainStream one(sampler);
  PretrainStream two(sampler);
  std::multiset<std::uint64_t> seen;
  for (std::int64_t step = 0; step < size; step += 2) {
    const PretrainBatch a = one.next({.global_batch = 2, .shards = 2, .first_shard = 0, .shard_count = 1});
    const PretrainBatch b = two.next({.global_batch = 2, .shards = 2, .first_shard = 1, .shard_count = 1});
    EXPECT_EQ(a.end, b.end);
    for (const std::uint64_t key : a.shards.at(0).sample_keys) seen.insert(key);
    for (const std::uint64_t key : b.shards.at(0).sample_keys) seen.insert(key);
  }
  for (std::int64_t i = 0; i < size; ++i) EXPECT_EQ(seen.count(static_cast<std::uint64_t>(i)), 1U) << i;
}

TEST(PretrainStream, TheOrderChangesByEpoch) {
  const PretrainSampler sampler = small_sampler();
  EXPECT_NE(sampler.plan(0).instances, sampler.plan(1).instances);
  EXPECT_NE(sampler.plan(1).instances, sampler.plan(2).instances);
}

TEST(PretrainStream, MasksChangeByEpoch) {
  // The only instance of this text has the same tokens each epoch; its masks differ.
  const PretrainSampler sampler(
      Corpus::from_documents(testing::counting_documents({{29}}), testing::kVocabulary), testing::token_rules(),
      {.sentence_task = SentenceTask::None, .max_seq_length = 31, .short_seq_prob = 0}, kSeed);
  PretrainStream stream(sampler);
  const PretrainBatch first = stream.next({});
  const PretrainBatch second = stream.next({});
  EXPECT_EQ(first.shards[0].tokens.size(), 31U);
  EXPECT_NE(first.shards[0].predicted_rows, second.shards[0].predicted_rows);
}

TEST(PretrainStream, DoesNotDependOnThreads) {
  const PretrainSampler sampler = small_sampler();
  const int threads = thread_count();
  set_thread_count(1);
  PretrainStream one(sampler);
  const auto expected = take(one, 10, {.global_batch = 5});
  set_thread_count(4);
  PretrainStream four(sampler);
  expect_equal(joined(take(four, 10, {.global_batch = 5})), joined(expected));
  set_thread_count(threads);
}

TEST(PretrainStream, MayRunInsideAPrefetcher) {
  const PretrainSampler sampler = small_sampler();
  PretrainStream here(sampler);
  PretrainStream there(sampler);
  Prefetcher<PretrainBatch> loader([&](std::int64_t) { return there.next({.global_batch = 3}); },
                                   {.end = 12, .depth = 2});
  for (int step = 0; step < 12; ++step) {
    const PretrainBatch batch = loader.next();
    const PretrainBatch expected = here.next({.global_batch = 3});
    expect_equal(batch.shards[0], expected.shards[0]);
    EXPECT_EQ(batch.end, expected.end);  // of this batch, not of what was made ahead
  }
}

TEST(PretrainStream, RefusesAPositionBeyondItsEpoch) {
  const PretrainSampler sampler = small_sampler();
  EXPECT_THROW(PretrainStream(sampler, {0, sampler.plan(0).size() + 1}), DataError);
  EXPECT_THROW(PretrainStream(sampler, {0, -1}), DataError);
}

TEST(PretrainSampler, AnEvaluationPlanIsFixed) {
  const PretrainSampler held_out = small_sampler(kSeed + 1);
  const EpochPlan plan = held_out.plan(0);
  expect_equal(held_out.make_batch(plan, {2, 6}), small_sampler(kSeed + 1).make_batch(plan, {2, 6}));
  EXPECT_EQ(held_out.make_batch(plan, {2, 6}).sequences(), 4);
}

TEST(PretrainSampler, BatchesWithNothingToPredictAreMade) {
  const PretrainSampler sampler(small_corpus(), testing::token_rules(),
                                {.arm = Arm::NoWord, .max_seq_length = 32, .mlm_probability = 0}, kSeed);
  const PackedTextBatch batch = sampler.make_batch(sampler.plan(0), {0, 3});
  EXPECT_TRUE(batch.predicted_rows.empty());
  EXPECT_EQ(batch.sentence_labels.size(), 3U);
}

TEST(PretrainSampler, TheFingerprintNamesDataOptionsAndSeed) {
  const std::uint64_t print = small_sampler().fingerprint();
  EXPECT_EQ(small_sampler().fingerprint(), print);
  EXPECT_NE(small_sampler(kSeed + 1).fingerprint(), print);
  EXPECT_NE(PretrainSampler(small_corpus(), testing::token_rules(), {.max_seq_length = 33}, kSeed).fingerprint(),
            print);
  const Corpus other = Corpus::from_documents(testing::counting_documents({{5, 9}, {7}}), testing::kVocabulary);
  EXPECT_NE(PretrainSampler(other, testing::token_rules(), {.max_seq_length = 32}, kSeed).fingerprint(), print);
}

template <typename Failing>
std::string message_of(Failing failing) {
  try {
    failing();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PretrainSampler, RefusesAnotherVocabulary) {
  const Corpus corpus = Corpus::from_documents({{{1, 2}}, {{3}}}, 100);
  EXPECT_THAT(message_of([&] { PretrainSampler(corpus, testing::token_rules(), {}, kSeed); }),
              ::testing::AllOf(HasSubstr("100"), HasSubstr("20000")));
}

TEST(PretrainSampler, RefusesTextThatGivesNoPair) {
  const Corpus corpus = Corpus::from_documents({{{11, 12}}}, testing::kVocabulary);
  const PretrainSampler sampler(corpus, testing::token_rules(), {}, kSeed);
  EXPECT_THAT(message_of([&] { sampler.plan(0); }), HasSubstr("sentence_task: none"));
}

TEST(PretrainSampler, RefusesARandomClassAloneOfOneDocument) {
  const Corpus corpus = Corpus::from_documents({{{11, 12}, {13}}}, testing::kVocabulary);
  EXPECT_THROW(PretrainSampler(corpus, testing::token_rules(), {.next_weight = 0, .previous_weight = 0}, kSeed),
               ConfigError);
}

TEST(PretrainSampler, BertsTaskOnOneDocumentTakesRandomSegmentsFromIt) {
  const Corpus corpus =
      Corpus::from_documents(testing::counting_documents({std::vector<std::int32_t>(400, 5)}), testing::kVocabulary);
  const PretrainSampler sampler(corpus, testing::token_rules(), {.arm = Arm::Bert, .max_seq_length = 32}, kSeed);
  EXPECT_GT(sampler.plan(0).counts.random, 0);
}

}  // namespace
}  // namespace eflops::data
