#include "data/pretrain_instance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "data/objective_masking.h"
#include "data/pretrain_sampler.h"
#include "pretrain_text.h"

namespace eflops::data {
namespace {

using testing::kCls;
using testing::kFirstOrdinary;
using testing::kSep;
using Tokens = std::vector<std::int32_t>;

constexpr std::uint64_t kSeed = 21;

/// 60 documents of 1 ... 12 sentences of 1 ... 50 tokens; each token tells where in the text it stands.
const testing::Documents& documents() {
  static const testing::Documents kDocuments = [] {
    Random random(4, Purpose::Test);
    std::vector<std::vector<std::int32_t>> lengths(60);
    for (auto& document : lengths) {
      document.resize(1 + random.below(12));
      for (auto& length : document) length = static_cast<std::int32_t>(1 + random.below(50));
    }
    return testing::counting_documents(lengths);
  }();
  return kDocuments;
}

PretrainSampler sampler(const ObjectiveOptions& options) {
  return {Corpus::from_documents(documents(), testing::kVocabulary), testing::token_rules(), options, kSeed};
}

/// The text alone: nothing masked, nothing shuffled.
ObjectiveOptions plain(SentenceTask task) {
  return {.word_task = WordTask::Masked, .sentence_task = task, .max_seq_length = 64, .mlm_probability = 0};
}

std::size_t document_of(std::int32_t token) {
  std::size_t d = 0;
  while (documents()[d].back().back() < token) ++d;
  return d;
}

struct Pair {
  Tokens a;
  Tokens b;
};

Pair split(const PretrainInstance& made) {
  const auto sep = std::ranges::find(made.tokens, kSep);
  Pair pair{.a = Tokens(made.tokens.begin() + 1, sep), .b = {}};
  if (sep + 1 != made.tokens.end()) pair.b.assign(sep + 1, made.tokens.end() - 1);
  return pair;
}

TEST(TruncatePair, CutsTheLongerAndOnATieTheSecond) {
  struct Case {
    std::int64_t a, b, budget, a_left, b_left;
  };
  // Google's loop by hand: (10, 3) -> A loses 5; (5, 5) -> B, then A; (3, 10) -> B loses 5; (4, 4) to 7 -> B.
  constexpr Case kCases[] = {{10, 3, 8, 5, 3}, {5, 5, 8, 4, 4}, {3, 10, 8, 3, 5},  {4, 4, 7, 4, 3},
                             {9, 9, 2, 1, 1},  {3, 4, 7, 3, 4}, {1, 100, 5, 1, 4}, {7, 0, 5, 5, 0}};
  for (const Case& c : kCases) {
    Random random(kSeed, Purpose::Test);
    const PairCut cut = truncate_pair(c.a, c.b, c.budget, random);
    EXPECT_EQ(cut.a_end - cut.a_begin, c.a_left) << c.a << " " << c.b;
    EXPECT_EQ(cut.b_end - cut.b_begin, c.b_left) << c.a << " " << c.b;
    EXPECT_TRUE(cut.a_begin >= 0 && cut.a_end <= c.a && cut.b_begin >= 0 && cut.b_end <= c.b);
  }
}

TEST(TruncatePair, CutsFrontAndBackEquallyOften) {
  Random random(kSeed, Purpose::Test);
  const PairCut cut = truncate_pair(10'100, 50, 150, random);
  // 10,000 fair draws: sd 50, five sd.
  EXPECT_NEAR(static_cast<double>(cut.a_begin), 5000, 250);
}

TEST(MakeInstance, JoinsTheTextOfItsClass) {
  const PretrainSampler made_by = sampler(plain(SentenceTask::ThreeWay));
  const EpochPlan plan = made_by.plan(0);
  std::array<std::int64_t, 3> seen{};
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const PretrainInstance made = made_by.make_instance(plan, i);
    ASSERT_EQ(made.tokens.front(), kCls);
    ASSERT_EQ(std::ranges::count(made.tokens, kSep), 2);
    ASSERT_EQ(made.tokens.back(), kSep);
    const auto [a, b] = split(made);
    ASSERT_FALSE(a.empty() || b.empty());
    // Ids count up through the text, so each segment is a run, and only truncation opens a gap between the two.
    ASSERT_EQ(a.back() - a.front() + 1, static_cast<std::int32_t>(a.size()));
    if (made.pair_class != PairClass::Random) {
      ASSERT_EQ(b.back() - b.front() + 1, static_cast<std::int32_t>(b.size()));
    }
    const bool whole = made.truncated_tokens == 0;
    switch (made.pair_class) {
      case PairClass::Random:
        ASSERT_NE(document_of(a.front()), document_of(b.front()));
        break;
      case PairClass::Next:
        ASSERT_GT(b.front(), a.back());
        if (whole) {
          ASSERT_EQ(b.front(), a.back() + 1);
        }
        break;
      case PairClass::Previous:
        ASSERT_LT(b.back(), a.front());
        if (whole) {
          ASSERT_EQ(a.front(), b.back() + 1);
        }
        break;
      case PairClass::Single:
        FAIL() << "a single segment in a sentence task";
    }
    if (made.pair_class != PairClass::Random) {
      ASSERT_EQ(document_of(a.front()), document_of(b.back()));
    }
    ++seen[static_cast<std::size_t>(made.pair_class)];
  }
  for (const std::int64_t count : seen) EXPECT_GT(count, 0);
}

TEST(MakeInstance, ARandomSegmentIsTextOfOneOtherDocument) {
  const PretrainSampler made_by = sampler(plain(SentenceTask::NextSentence));
  const EpochPlan plan = made_by.plan(0);
  std::set<std::size_t> others;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const PretrainInstance made = made_by.make_instance(plan, i);
    if (made.pair_class != PairClass::Random) continue;
    const Tokens b = split(made).b;
    ASSERT_EQ(b.back() - b.front() + 1, static_cast<std::int32_t>(b.size()));
    ASSERT_EQ(document_of(b.front()), document_of(b.back()));
    others.insert(document_of(b.front()));
  }
  EXPECT_GT(others.size(), 30U);  // of 60
}

TEST(MakeInstance, RandomDocumentsAreUniformAmongTheOthers) {
  // Five documents of one sentence; the pairs of document 2 take each of the others equally often.
  const PretrainSampler made_by(
      Corpus::from_documents(testing::counting_documents({{1}, {1}, {1}, {1}, {1}}), testing::kVocabulary),
      testing::token_rules(), plain(SentenceTask::ThreeWay), kSeed);
  std::array<std::int64_t, 4> taken{};
  for (std::int64_t epoch = 0; epoch < 4000; ++epoch) {
    const EpochPlan plan = made_by.plan(epoch, PlanThreads::Caller);
    for (std::int64_t i = 0; i < plan.size(); ++i) {
      if (plan.instances[static_cast<std::size_t>(i)].document != 2) continue;
      const std::int32_t other = split(made_by.make_instance(plan, i)).b.front() - kFirstOrdinary;
      ASSERT_NE(other, 2);
      ++taken.at(static_cast<std::size_t>(other > 2 ? other - 1 : other));
    }
  }
  EXPECT_LT(testing::chi_square(taken), 21.1);  // 99.99 % point with 3 degrees
}

TEST(MakeInstance, SegmentsFollowTheSeparator) {
  const PretrainSampler made_by = sampler(plain(SentenceTask::ThreeWay));
  const EpochPlan plan = made_by.plan(0);
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const PretrainInstance made = made_by.make_instance(plan, i);
    const auto sep = std::ranges::find(made.tokens, kSep) - made.tokens.begin();
    ASSERT_EQ(made.segments.size(), made.tokens.size());
    for (std::ptrdiff_t at = 0; at < std::ssize(made.tokens); ++at)
      ASSERT_EQ(made.segments[static_cast<std::size_t>(at)], at > sep ? 1 : 0);
  }
}

TEST(MakeInstance, NeverExceedsTheLengthAndSaysWhatWasCut) {
  // Sentences of 1 and of 1000 tokens into 16.
  const PretrainSampler made_by(
      Corpus::from_documents(testing::counting_documents({{1, 1000, 1, 1000, 1000}, {1000}, {1}, {1, 1, 1}}),
                             testing::kVocabulary),
      testing::token_rules(), {.max_seq_length = 16}, kSeed);
  std::int64_t cut = 0;
  for (std::int64_t epoch = 0; epoch < 30; ++epoch) {
    const EpochPlan plan = made_by.plan(epoch);
    for (std::int64_t i = 0; i < plan.size(); ++i) {
      const PretrainInstance made = made_by.make_instance(plan, i);
      ASSERT_LE(made.tokens.size(), 16U);
      ASSERT_GE(made.tokens.size(), 5U);  // both segments hold a token
      if (made.truncated_tokens > 0) {
        ASSERT_EQ(made.tokens.size(), 16U);
      }
      cut += made.truncated_tokens;
    }
  }
  EXPECT_GT(cut, 0);
}

TEST(MakeInstance, FitsTheSmallestLength) {
  const PretrainSampler made_by = sampler({.max_seq_length = 5});
  const EpochPlan plan = made_by.plan(0);
  for (std::int64_t i = 0; i < plan.size(); ++i) ASSERT_EQ(made_by.make_instance(plan, i).tokens.size(), 5U);
}

TEST(MakeInstance, LabelsFollowTheNames) {
  for (const SentenceLabels order : {SentenceLabels::RandomNextPrevious, SentenceLabels::NextPreviousRandom}) {
    const PretrainSampler made_by = sampler({.sentence_labels = order});
    const std::vector<std::string> names = sentence_label_names(made_by.options());
    const std::array<std::string, 3> class_names{"random", "next", "previous"};
    const EpochPlan plan = made_by.plan(0);
    for (std::int64_t i = 0; i < plan.size(); ++i) {
      const PretrainInstance made = made_by.make_instance(plan, i);
      ASSERT_EQ(names.at(static_cast<std::size_t>(made.sentence_label)),
                class_names.at(static_cast<std::size_t>(made.pair_class)));
    }
  }
}

TEST(MakeInstance, BertsLabelsAreNextZeroRandomOne) {
  const PretrainSampler made_by = sampler({.arm = Arm::Bert});
  const EpochPlan plan = made_by.plan(0);
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const PretrainInstance made = made_by.make_instance(plan, i);
    ASSERT_EQ(made.sentence_label, made.pair_class == PairClass::Next ? 0 : 1);
  }
}

struct KindCounts {
  std::int64_t masked = 0;  ///< chosen by the MLM
  std::int64_t shuffled = 0;
  std::int64_t tokens = 0;
};

KindCounts count_kinds(const ObjectiveOptions& options) {
  const PretrainSampler made_by = sampler(options);
  const EpochPlan plan = made_by.plan(0);
  KindCounts counts;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const PretrainInstance made = made_by.make_instance(plan, i);
    counts.tokens += static_cast<std::int64_t>(made.tokens.size());
    for (const PredictionKind kind : made.predicted_kinds)
      ++(kind == PredictionKind::Shuffled ? counts.shuffled : counts.masked);
  }
  return counts;
}

TEST(MakeInstance, TheWordTaskOfAnArmDecidesAboutShuffling) {
  for (const Arm arm : {Arm::Bert, Arm::NoWord}) {
    EXPECT_EQ(count_kinds({.arm = arm}).shuffled, 0) << choice_name(arm);
    EXPECT_GT(count_kinds({.arm = arm}).masked, 0);
  }
  for (const Arm arm : {Arm::StructBert, Arm::NoSentence})
    EXPECT_GT(count_kinds({.arm = arm}).shuffled, 0) << choice_name(arm);
}

TEST(MakeInstance, ShufflingLeavesTheMaskingAsItIs) {
  // The two draw from streams of their own, so arms that share a sentence task see the same masks: a fair ablation.
  EXPECT_EQ(count_kinds({.arm = Arm::NoWord}).masked, count_kinds({.arm = Arm::StructBert}).masked);
  EXPECT_EQ(count_kinds({.arm = Arm::NoWord}).tokens, count_kinds({.arm = Arm::StructBert}).tokens);
}

TEST(MakeInstance, PredictionsAreAscendingAndRestoreTheText) {
  // The plain instance of the same plan is the text that labels must restore.
  ObjectiveOptions options{.max_seq_length = 64};
  const PretrainSampler made_by = sampler(options);
  const PretrainSampler plain_by = sampler(plain(SentenceTask::ThreeWay));
  const EpochPlan plan = made_by.plan(0);
  ASSERT_EQ(plan.instances, plain_by.plan(0).instances);
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const PretrainInstance made = made_by.make_instance(plan, i);
    ASSERT_TRUE(std::ranges::is_sorted(made.predicted_positions, std::less_equal<>{}) ||
                made.predicted_positions.empty());
    ASSERT_EQ(std::set(made.predicted_positions.begin(), made.predicted_positions.end()).size(),
              made.predicted_positions.size());
    ASSERT_EQ(made.predicted_kinds.size(), made.predicted_labels.size());
    const std::int64_t masked =
        std::ranges::count_if(made.predicted_kinds, [](PredictionKind k) { return k != PredictionKind::Shuffled; });
    ASSERT_EQ(masked, mask_count(static_cast<std::int64_t>(made.tokens.size()), made_by.options()));
    Tokens restored = made.tokens;
    for (std::size_t p = 0; p < made.predicted_positions.size(); ++p)
      restored[static_cast<std::size_t>(made.predicted_positions[p])] = made.predicted_labels[p];
    ASSERT_EQ(restored, plain_by.make_instance(plan, i).tokens);
  }
}

TEST(MakeInstance, WithoutASentenceTaskThereIsOneSegmentAndNoLabel) {
  const PretrainSampler made_by = sampler({.sentence_task = SentenceTask::None, .max_seq_length = 64});
  const EpochPlan plan = made_by.plan(0);
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const PretrainInstance made = made_by.make_instance(plan, i);
    ASSERT_EQ(made.sentence_label, -1);
    ASSERT_LE(made.tokens.size(), 64U);
    ASSERT_EQ(made.tokens.back(), kSep);
    ASSERT_EQ(std::ranges::count(made.segments, 1), 0);
  }
}

TEST(MakeInstance, SampleIdsNeverRepeat) {
  const PretrainSampler made_by = sampler({});
  std::set<std::uint64_t> ids;
  std::size_t made = 0;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    const EpochPlan plan = made_by.plan(epoch);
    for (std::int64_t i = 0; i < plan.size(); ++i, ++made) ids.insert(made_by.make_instance(plan, i).sample_id);
  }
  EXPECT_EQ(ids.size(), made);
}

}  // namespace
}  // namespace eflops::data
