#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"

namespace eflops::data {

/// Named sets of objectives, so that StructBERT's ablation is four words (StructBERT, table 5).
enum class Arm {
  Bert,        ///< masked tokens + BERT's two-way next sentence prediction, sampled as Google does
  StructBert,  ///< masked and shuffled tokens + three-way sentence order
  NoWord,      ///< structbert without shuffled tokens
  NoSentence,  ///< structbert with BERT's two-way task in place of the three-way one
};

/// What the MLM head predicts. `Arm` in these enums means: as the arm says.
enum class WordTask { Arm, Masked, MaskedAndShuffled };
/// What the sentence head predicts; with None an instance is one segment, [CLS] A [SEP], and has no sentence label.
enum class SentenceTask { Arm, ThreeWay, NextSentence, None };
/// What becomes of a chunk of one sentence, which cannot be cut in two. Balanced keeps the class that was drawn and
/// borrows the sentence beside it; Google makes it a random pair, as Google BERT and AliceMind do, which over-weights
/// that class.
enum class PairSampling { Arm, Balanced, Google };
/// Ids of the three sentence classes: AliceMind's order, or the one of other re-implementations.
enum class SentenceLabels { RandomNextPrevious, NextPreviousRandom };
/// What replaces a token at random: any ordinary piece, or (Google) any id, special and unused ones too.
enum class RandomIds { Ordinary, All };
/// How '5 % of trigrams' is read: spans per token without [CLS] and [SEP]; spans per unmasked token; or AliceMind's
/// code: each start position is taken with a probability, spans may hold masked tokens and may overlap.
enum class ShuffleReading { OfTokens, OfUnmasked, PerStart };
/// Which positions of a shuffled span are predicted.
enum class ShuffleTargets { AllPositions, ChangedOnly };

/// How pre-training instances are made from text (reference: BERT's create_pretraining_data, StructBERT
/// sections 2.1-2.2).
struct ObjectiveOptions {
  Arm arm = Arm::StructBert;
  WordTask word_task = WordTask::Arm;
  SentenceTask sentence_task = SentenceTask::Arm;
  PairSampling pair_sampling = PairSampling::Arm;

  std::int64_t max_seq_length = 128;
  double short_seq_prob = 0.1;

  double mlm_probability = 0.15;
  double mask_share = 0.8;
  double random_share = 0.1;
  std::int64_t max_predictions = 0;
  bool whole_word = false;
  RandomIds random_ids = RandomIds::Ordinary;

  ShuffleReading shuffle_reading = ShuffleReading::OfTokens;
  double shuffle_share = 0.05;
  double shuffle_start_probability = 0.1;
  std::int64_t shuffle_span = 3;
  bool shuffle_identity = true;
  ShuffleTargets shuffle_targets = ShuffleTargets::AllPositions;

  double random_weight = 1.0;
  double next_weight = 1.0;
  double previous_weight = 1.0;
  SentenceLabels sentence_labels = SentenceLabels::RandomNextPrevious;

  void visit_fields(OptionVisitor& v);
};

/// Overwrites the three task fields with what `arm` means; everything else stays.
void apply_arm(Arm arm, ObjectiveOptions& options);

/// The same options with every `Arm` value replaced by what the arm says, checked as a whole: ConfigError names the
/// keys that contradict each other and what would be valid.
ObjectiveOptions resolved(ObjectiveOptions options);

/// Names of the sentence classes in the order of their label ids, for checkpoint metadata; empty without a sentence
/// task. `options` must be resolved.
std::vector<std::string> sentence_label_names(const ObjectiveOptions& options);

}  // namespace eflops::data

namespace eflops {

template <>
struct Choices<data::Arm> {
  static constexpr std::pair<data::Arm, std::string_view> kEntries[] = {
      {data::Arm::Bert, "bert"},
      {data::Arm::StructBert, "structbert"},
      {data::Arm::NoWord, "no-word"},
      {data::Arm::NoSentence, "no-sentence"},
  };
};

template <>
struct Choices<data::WordTask> {
  static constexpr std::pair<data::WordTask, std::string_view> kEntries[] = {
      {data::WordTask::Arm, "arm"},
      {data::WordTask::Masked, "masked"},
      {data::WordTask::MaskedAndShuffled, "masked-and-shuffled"},
  };
};

template <>
struct Choices<data::SentenceTask> {
  static constexpr std::pair<data::SentenceTask, std::string_view> kEntries[] = {
      {data::SentenceTask::Arm, "arm"},
      {data::SentenceTask::ThreeWay, "three-way"},
      {data::SentenceTask::NextSentence, "nsp"},
      {data::SentenceTask::None, "none"},
  };
};

template <>
struct Choices<data::PairSampling> {
  static constexpr std::pair<data::PairSampling, std::string_view> kEntries[] = {
      {data::PairSampling::Arm, "arm"},
      {data::PairSampling::Balanced, "balanced"},
      {data::PairSampling::Google, "google"},
  };
};

template <>
struct Choices<data::SentenceLabels> {
  static constexpr std::pair<data::SentenceLabels, std::string_view> kEntries[] = {
      {data::SentenceLabels::RandomNextPrevious, "random-next-previous"},
      {data::SentenceLabels::NextPreviousRandom, "next-previous-random"},
  };
};

template <>
struct Choices<data::RandomIds> {
  static constexpr std::pair<data::RandomIds, std::string_view> kEntries[] = {
      {data::RandomIds::Ordinary, "ordinary"},
      {data::RandomIds::All, "all"},
  };
};

template <>
struct Choices<data::ShuffleReading> {
  static constexpr std::pair<data::ShuffleReading, std::string_view> kEntries[] = {
      {data::ShuffleReading::OfTokens, "of-tokens"},
      {data::ShuffleReading::OfUnmasked, "of-unmasked"},
      {data::ShuffleReading::PerStart, "per-start"},
  };
};

template <>
struct Choices<data::ShuffleTargets> {
  static constexpr std::pair<data::ShuffleTargets, std::string_view> kEntries[] = {
      {data::ShuffleTargets::AllPositions, "all"},
      {data::ShuffleTargets::ChangedOnly, "changed"},
  };
};

}  // namespace eflops
