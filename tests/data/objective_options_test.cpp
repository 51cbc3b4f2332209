#include "data/objective_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace eflops::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ArmCase {
  Arm arm;
  WordTask word;
  SentenceTask sentence;
  PairSampling pairs;
};

// StructBERT's ablation takes one structural objective away at a time; without the three-way task BERT's own is left,
// since BERT is the row without both.
constexpr ArmCase kArms[] = {
    {Arm::Bert, WordTask::Masked, SentenceTask::NextSentence, PairSampling::Google},
    {Arm::StructBert, WordTask::MaskedAndShuffled, SentenceTask::ThreeWay, PairSampling::Balanced},
    {Arm::NoWord, WordTask::Masked, SentenceTask::ThreeWay, PairSampling::Balanced},
    {Arm::NoSentence, WordTask::MaskedAndShuffled, SentenceTask::NextSentence, PairSampling::Google},
};

TEST(ObjectiveOptions, AnArmSetsItsTasks) {
  for (const ArmCase& c : kArms) {
    const ObjectiveOptions o = resolved({.arm = c.arm});
    EXPECT_EQ(o.word_task, c.word) << choice_name(c.arm);
    EXPECT_EQ(o.sentence_task, c.sentence) << choice_name(c.arm);
    EXPECT_EQ(o.pair_sampling, c.pairs) << choice_name(c.arm);
  }
}

TEST(ObjectiveOptions, ATaskSetByItselfWinsOverTheArm) {
  const ObjectiveOptions o = resolved({.arm = Arm::Bert, .sentence_task = SentenceTask::None});
  EXPECT_EQ(o.sentence_task, SentenceTask::None);
  EXPECT_EQ(o.word_task, WordTask::Masked);
}

TEST(ObjectiveOptions, ApplyArmOverwritesTasksAndNothingElse) {
  ObjectiveOptions o{.sentence_task = SentenceTask::None, .max_seq_length = 64};
  apply_arm(Arm::Bert, o);
  EXPECT_EQ(o.sentence_task, SentenceTask::NextSentence);
  EXPECT_EQ(o.max_seq_length, 64);
}

TEST(ObjectiveOptions, LabelNamesFollowTheTaskAndTheOrder) {
  EXPECT_THAT(sentence_label_names(resolved({})), ElementsAre("random", "next", "previous"));
  EXPECT_THAT(sentence_label_names(resolved({.sentence_labels = SentenceLabels::NextPreviousRandom})),
              ElementsAre("next", "previous", "random"));
  EXPECT_THAT(sentence_label_names(resolved({.arm = Arm::Bert})), ElementsAre("next", "random"));
  EXPECT_THAT(sentence_label_names(resolved({.sentence_task = SentenceTask::None})), IsEmpty());
}

std::string error_of(const ObjectiveOptions& options) {
  try {
    resolved(options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ObjectiveOptions, ContradictionsAreNamed) {
  EXPECT_THAT(error_of({.mask_share = 0.8, .random_share = 0.3}), HasSubstr("mask_share 0.8 + random_share 0.3"));
  EXPECT_THAT(error_of({.shuffle_share = 0}), HasSubstr("word_task: masked"));
  EXPECT_THAT(error_of({.random_weight = 0, .next_weight = 0, .previous_weight = 0}), HasSubstr("all 0"));
  // BERT's task has no class previous, so its weight saves nothing.
  EXPECT_THAT(error_of({.arm = Arm::Bert, .random_weight = 0, .next_weight = 0}), HasSubstr("all 0"));
}

TEST(ObjectiveOptions, EveryFieldIsAnOption) {
  ObjectiveOptions options;
  assign(OptionSet(options), {.path = "arm", .values = {"no-word"}, .source = "test"});
  assign(OptionSet(options), {.path = "shuffle_reading", .values = {"per-start"}, .source = "test"});
  assign(OptionSet(options), {.path = "mlm-probability", .values = {"0.2"}, .source = "test"});
  EXPECT_EQ(options.arm, Arm::NoWord);
  EXPECT_EQ(options.shuffle_reading, ShuffleReading::PerStart);
  EXPECT_EQ(options.mlm_probability, 0.2);
  EXPECT_EQ(describe(OptionSet(options)).size(), 22U);
}

TEST(ObjectiveOptions, LengthsOutOfRangeAreRefused) {
  ObjectiveOptions options;
  EXPECT_THROW(assign(OptionSet(options), {.path = "max_seq_length", .values = {"4"}, .source = "test"}), ConfigError);
  EXPECT_THROW(assign(OptionSet(options), {.path = "max_seq_length", .values = {"20000"}, .source = "test"}),
               ConfigError);
}

}  // namespace
}  // namespace eflops::data
