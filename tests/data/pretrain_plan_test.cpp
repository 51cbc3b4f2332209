#include "data/pretrain_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "base/parallel.h"
#include "base/random.h"
#include "pretrain_text.h"

namespace eflops::data {
namespace {

using testing::chi_square;
using testing::uniform_corpus;

constexpr std::uint64_t kSeed = 11;

ObjectiveOptions no_short_chunks(Arm arm) { return resolved({.arm = arm, .short_seq_prob = 0}); }

/// `documents` documents of 1 ... 30 sentences of 1 ... 40 tokens.
Corpus varied_corpus(std::size_t documents) {
  Random random(3, Purpose::Test);
  testing::Documents made(documents);
  for (auto& document : made) {
    document.resize(1 + random.below(30));
    for (auto& sentence : document) sentence.assign(1 + random.below(40), testing::kFirstOrdinary);
  }
  return Corpus::from_documents(made, testing::kVocabulary);
}

std::vector<InstanceDescriptor> text_order(EpochPlan plan) {
  std::ranges::sort(plan.instances, {}, [](const InstanceDescriptor& d) {
    return std::tuple(d.document, d.first, d.first + d.a_sentences);
  });
  return plan.instances;
}

std::int64_t tokens(const Corpus& corpus, std::int64_t document, std::int64_t begin, std::int64_t end) {
  std::int64_t sum = 0;
  for (std::int64_t s = begin; s < end; ++s) sum += corpus.sentence_length(document, s);
  return sum;
}

// Google's loop: an instance begins where the one before it ended, or after its first segment when the second was
// random and the rest of the chunk was put back; a document is left when its last sentence is used.
TEST(PlanEpoch, GooglesChainVisitsEverySentence) {
  const Corpus corpus = varied_corpus(300);
  const EpochPlan plan = plan_epoch(corpus, no_short_chunks(Arm::Bert), kSeed, 0, PlanThreads::Pool);
  std::int64_t document = -1;
  std::int64_t at = 0;
  for (const InstanceDescriptor& d : text_order(plan)) {
    if (static_cast<std::int64_t>(d.document) != document) {
      if (document >= 0) {
        ASSERT_EQ(at, corpus.sentence_count(document)) << "document " << document;
      }
      ASSERT_EQ(static_cast<std::int64_t>(d.document), document + 1);
      document = d.document;
      at = 0;
    }
    ASSERT_EQ(static_cast<std::int64_t>(d.first), at);
    at += d.a_sentences + d.b_sentences;
  }
  EXPECT_EQ(document, 299);
  EXPECT_EQ(at, corpus.sentence_count(299));
}

TEST(PlanEpoch, ChunksStopAtTheTargetLength) {
  const Corpus corpus = varied_corpus(300);
  const EpochPlan plan = plan_epoch(corpus, no_short_chunks(Arm::Bert), kSeed, 0, PlanThreads::Pool);
  for (const InstanceDescriptor& d : plan.instances) {
    if (d.pair_class() != PairClass::Next) continue;
    const std::int64_t end = d.first + d.a_sentences + d.b_sentences;
    ASSERT_LT(tokens(corpus, d.document, d.first, end - 1), 125);  // 128 without [CLS] and two [SEP]
    if (end < corpus.sentence_count(d.document)) {
      ASSERT_GE(tokens(corpus, d.document, d.first, end), 125);
    }
  }
}

TEST(PlanEpoch, BalancedPairsCoverEverySentenceToo) {
  const Corpus corpus = varied_corpus(300);
  const EpochPlan plan = plan_epoch(corpus, no_short_chunks(Arm::StructBert), kSeed, 0, PlanThreads::Pool);
  std::vector<std::vector<bool>> covered(300);
  for (std::int64_t d = 0; d < 300; ++d)
    covered[static_cast<std::size_t>(d)].resize(static_cast<std::size_t>(corpus.sentence_count(d)));
  for (const InstanceDescriptor& d : plan.instances)
    for (std::uint32_t s = d.first; s < d.first + d.a_sentences + d.b_sentences; ++s) covered[d.document].at(s) = true;
  for (const auto& document : covered) ASSERT_TRUE(std::ranges::all_of(document, [](bool c) { return c; }));
}

TEST(PlanEpoch, ThreeWayClassesAreAThirdEach) {
  // Sentences of 40 tokens: many chunks end with a lone sentence, which balanced sampling must not make a random pair.
  const Corpus corpus = uniform_corpus(1500, 10, 40);
  const EpochPlan plan = plan_epoch(corpus, no_short_chunks(Arm::StructBert), kSeed, 0, PlanThreads::Pool);
  EXPECT_EQ(plan.counts.forced_random, 0);
  EXPECT_EQ(plan.counts.random + plan.counts.next + plan.counts.previous, plan.size());
  // Classes are independent draws with 1/3, so their counts spread as Binomial(n, 1/3) around n/3 although n itself
  // depends on them (Wald): sd = sqrt(n * 2/9); five sd.
  const double n = static_cast<double>(plan.size());
  ASSERT_GT(n, 4000);
  const double bound = 5 * std::sqrt(n * 2.0 / 9.0);
  EXPECT_NEAR(static_cast<double>(plan.counts.random), n / 3, bound);
  EXPECT_NEAR(static_cast<double>(plan.counts.next), n / 3, bound);
  EXPECT_NEAR(static_cast<double>(plan.counts.previous), n / 3, bound);
}

TEST(PlanEpoch, WeightsSetTheShares) {
  ObjectiveOptions options = no_short_chunks(Arm::StructBert);
  options.random_weight = 0;
  options.next_weight = 3;
  const EpochPlan plan = plan_epoch(uniform_corpus(500, 30, 20), options, kSeed, 0, PlanThreads::Pool);
  EXPECT_EQ(plan.counts.random, 0);
  const double n = static_cast<double>(plan.size());
  EXPECT_NEAR(static_cast<double>(plan.counts.next), 0.75 * n, 5 * std::sqrt(n * 3.0 / 16.0));
}

TEST(PlanEpoch, GooglePairsLoneSentencesAtRandom) {
  // Sentences as long as the target: every chunk is one sentence, so every pair is random, whatever was drawn.
  ObjectiveOptions options = no_short_chunks(Arm::StructBert);
  options.pair_sampling = PairSampling::Google;
  const EpochPlan google = plan_epoch(uniform_corpus(50, 20, 125), options, kSeed, 0, PlanThreads::Pool);
  EXPECT_EQ(google.counts.random, 1000);
  // Two of three draws were overruled: Binomial(1000, 2/3), sd 14.9, five sd.
  EXPECT_NEAR(static_cast<double>(google.counts.forced_random), 667, 75);
}

TEST(PlanEpoch, BalancedBorrowsTheNeighbourOfALoneSentence) {
  ObjectiveOptions options = no_short_chunks(Arm::StructBert);
  options.random_weight = 0;
  // Three sentences as long as the target: the first chunk takes its follower along, the last one the sentence before
  // it.
  const auto made = text_order(plan_epoch(uniform_corpus(2, 3, 125), options, kSeed, 0, PlanThreads::Pool));
  ASSERT_EQ(made.size(), 4U);
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(made[i].first, i % 2);
    EXPECT_EQ(made[i].a_sentences, 1U);
    EXPECT_EQ(made[i].b_sentences, 1U);
    EXPECT_NE(made[i].pair_class(), PairClass::Random);
  }
}

TEST(PlanEpoch, NextSentencePairsAreHalfRandom) {
  const EpochPlan plan =
      plan_epoch(uniform_corpus(800, 40, 10), no_short_chunks(Arm::Bert), kSeed, 0, PlanThreads::Pool);
  EXPECT_EQ(plan.counts.previous, 0);
  const double n = static_cast<double>(plan.size() - plan.counts.forced_random);
  const double sd = std::sqrt(n / 4);
  EXPECT_NEAR(static_cast<double>(plan.counts.random - plan.counts.forced_random), n / 2, 5 * sd);
}

TEST(PlanEpoch, TheFirstSegmentIsUniform) {
  // Five sentences of one token fill the budget of 8 - 3: the first chunk holds all five, its first segment 1 ... 4.
  ObjectiveOptions options = no_short_chunks(Arm::Bert);
  options.max_seq_length = 8;
  const EpochPlan plan = plan_epoch(uniform_corpus(8000, 5, 1), options, kSeed, 0, PlanThreads::Pool);
  std::array<std::int64_t, 4> lengths{};
  for (const InstanceDescriptor& d : plan.instances)
    if (d.first == 0) ++lengths.at(d.a_sentences - 1);
  EXPECT_LT(chi_square(lengths), 21.1);  // 99.99 % point with 3 degrees
}

TEST(PlanEpoch, ShortTargetsAreUniformFromTwo) {
  const ObjectiveOptions options = resolved({.max_seq_length = 8, .short_seq_prob = 1});
  std::array<std::int64_t, 4> lengths{};  // 2 ... 5
  for (std::int64_t d = 0; d < 8000; ++d)
    ++lengths.at(static_cast<std::size_t>(target_length(options, kSeed, 0, d) - 2));
  EXPECT_LT(chi_square(lengths), 21.1);  // 99.99 % point with 3 degrees
}

TEST(PlanEpoch, OneDocumentInTenHasAShortTarget) {
  const ObjectiveOptions options = resolved({});
  std::int64_t shorter = 0;
  for (std::int64_t d = 0; d < 10'000; ++d) shorter += target_length(options, kSeed, 0, d) < 125;
  // 0.1 * 123/124 of 10,000 = 992, sd sqrt(10000 * 0.0992 * 0.9008) = 29.9; five sd.
  EXPECT_NEAR(static_cast<double>(shorter), 992, 150);
}

TEST(PlanEpoch, WithoutASentenceTaskDocumentsAreCutOnce) {
  const Corpus corpus = varied_corpus(100);
  ObjectiveOptions options = no_short_chunks(Arm::StructBert);
  options.sentence_task = SentenceTask::None;
  EpochPlan plan = plan_epoch(corpus, options, kSeed, 0, PlanThreads::Pool);
  std::int64_t sentences = 0;
  for (const InstanceDescriptor& d : plan.instances) {
    EXPECT_EQ(d.pair_class(), PairClass::Single);
    sentences += d.a_sentences;
  }
  EXPECT_EQ(sentences, corpus.total_sentences());
  EXPECT_EQ(plan.counts.single, plan.size());
}

TEST(PlanEpoch, DoesNotDependOnThreads) {
  const Corpus corpus = varied_corpus(700);
  const ObjectiveOptions options = resolved({});
  const EpochPlan alone = plan_epoch(corpus, options, kSeed, 2, PlanThreads::Caller);
  const int threads = thread_count();
  for (const int count : {1, 2, 5}) {
    set_thread_count(count);
    const EpochPlan pooled = plan_epoch(corpus, options, kSeed, 2, PlanThreads::Pool);
    EXPECT_EQ(pooled.instances, alone.instances) << count;
    EXPECT_EQ(pooled.counts.forced_random, alone.counts.forced_random);
  }
  set_thread_count(threads);
}

TEST(PlanEpoch, EpochsDifferInOrderAndInPairs) {
  const Corpus corpus = varied_corpus(300);
  const ObjectiveOptions options = resolved({});
  const EpochPlan first = plan_epoch(corpus, options, kSeed, 0, PlanThreads::Pool);
  EXPECT_EQ(plan_epoch(corpus, options, kSeed, 0, PlanThreads::Pool).instances, first.instances);
  const EpochPlan second = plan_epoch(corpus, options, kSeed, 1, PlanThreads::Pool);
  EXPECT_NE(second.instances, first.instances);
  EXPECT_NE(text_order(second), text_order(first));
  EXPECT_NE(plan_epoch(corpus, options, kSeed + 1, 0, PlanThreads::Pool).instances, first.instances);
}

TEST(PlanEpoch, OrderIsUniform) {
  // Three documents of one sentence give three random pairs; over epochs all 3! orders of them are equally likely.
  const Corpus corpus = uniform_corpus(3, 1, 5);
  std::array<std::int64_t, 6> orders{};
  for (std::int64_t epoch = 0; epoch < 6000; ++epoch) {
    const EpochPlan plan = plan_epoch(corpus, resolved({}), kSeed, epoch, PlanThreads::Caller);
    ASSERT_EQ(plan.size(), 3);
    const std::uint32_t first = plan.instances[0].document;
    const std::uint32_t second = plan.instances[1].document;
    ++orders.at(first * 2 + (second > first ? second - 1 : second));
  }
  EXPECT_LT(chi_square(orders), 25.7);  // 99.99 % point with 5 degrees
}

TEST(PlanEpoch, OneDocumentHasNoRandomClassInTheThreeWayTask) {
  const EpochPlan plan =
      plan_epoch(uniform_corpus(1, 3000, 20), no_short_chunks(Arm::StructBert), kSeed, 0, PlanThreads::Pool);
  EXPECT_EQ(plan.counts.random, 0);
  const double n = static_cast<double>(plan.size());
  ASSERT_GT(n, 400);
  EXPECT_NEAR(static_cast<double>(plan.counts.next), n / 2, 5 * std::sqrt(n / 4));
}

TEST(PlanEpoch, DocumentsOfOneSentenceArePairedAtRandomAndCounted) {
  const EpochPlan plan =
      plan_epoch(uniform_corpus(900, 1, 20), no_short_chunks(Arm::StructBert), kSeed, 0, PlanThreads::Pool);
  EXPECT_EQ(plan.size(), 900);
  EXPECT_EQ(plan.counts.random, 900);
  EXPECT_NEAR(static_cast<double>(plan.counts.forced_random), 600, 71);  // Binomial(900, 2/3), sd 14.1; five sd
}

TEST(PlanEpoch, ALoneSentenceWithNothingToPairItWithIsCounted) {
  const EpochPlan plan =
      plan_epoch(uniform_corpus(1, 1, 20), no_short_chunks(Arm::StructBert), kSeed, 0, PlanThreads::Pool);
  EXPECT_EQ(plan.size(), 0);
  EXPECT_EQ(plan.counts.skipped_sentences, 1);
}

TEST(PlanEpoch, ADescriptorTakesTwelveBytes) { EXPECT_EQ(sizeof(InstanceDescriptor), 12U); }

}  // namespace
}  // namespace eflops::data
