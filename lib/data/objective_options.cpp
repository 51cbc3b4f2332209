#include "data/objective_options.h"

#include "base/error.h"

namespace eflops::data {
namespace {

struct Tasks {
  WordTask word;
  SentenceTask sentence;
  PairSampling pairs;
};

Tasks tasks_of(Arm arm) {
  switch (arm) {
    case Arm::Bert:
      return {WordTask::Masked, SentenceTask::NextSentence, PairSampling::Google};
    case Arm::StructBert:
      return {WordTask::MaskedAndShuffled, SentenceTask::ThreeWay, PairSampling::Balanced};
    case Arm::NoWord:
      return {WordTask::Masked, SentenceTask::ThreeWay, PairSampling::Balanced};
    case Arm::NoSentence:
      return {WordTask::MaskedAndShuffled, SentenceTask::NextSentence, PairSampling::Google};
  }
  throw InternalError("no such arm: {}", static_cast<int>(arm));
}

void check(const ObjectiveOptions& o) {
  if (o.mask_share + o.random_share > 1.0 + 1e-12)
    throw ConfigError("mask_share {} + random_share {} is more than 1; what is left of 1 keeps its token", o.mask_share,
                      o.random_share);
  const bool shuffles = o.word_task == WordTask::MaskedAndShuffled;
  if (shuffles && o.shuffle_reading != ShuffleReading::PerStart && o.shuffle_share <= 0)
    throw ConfigError("shuffle_share is 0 while word_task is masked-and-shuffled; set word_task: masked instead");
  if (o.sentence_task == SentenceTask::None) return;
  const bool three_way = o.sentence_task == SentenceTask::ThreeWay;
  if (o.random_weight + o.next_weight + (three_way ? o.previous_weight : 0) <= 0)
    throw ConfigError("random_weight, next_weight{} are all 0; at least one must be above 0",
                      three_way ? " and previous_weight" : "");
}

}  // namespace

void ObjectiveOptions::visit_fields(OptionVisitor& v) {
  const FieldNotes share = {.min = 0, .max = 1};
  v("arm", arm, "named set of objectives; word_task, sentence_task and pair_sampling follow it unless set themselves");
  v("word_task", word_task, "what the MLM head predicts");
  v("sentence_task", sentence_task,
    "classes of the sentence head: random/next/previous, BERT's next/random, or no head");
  v("pair_sampling", pair_sampling,
    "a chunk of one sentence: balanced borrows its neighbour, google pairs it at random");
  v("max_seq_length", max_seq_length, "longest instance with [CLS] and [SEP]",
    {.unit = "tokens", .min = 5, .max = 16384});
  v("short_seq_prob", short_seq_prob, "share of documents cut into chunks of a shorter, uniform length", share);
  v("mlm_probability", mlm_probability, "share of tokens to mask, Google's counting; 0 masks nothing",
    {.min = 0, .max = 1, .aliases = {"masked_lm_prob"}});
  v("mask_share", mask_share, "share of chosen tokens that become [MASK]", share);
  v("random_share", random_share, "share of chosen tokens that become a random one; the rest keep theirs", share);
  v("max_predictions", max_predictions,
    "most masked tokens of an instance (per-start: with the shuffled ones); 0: no limit",
    {.unit = "tokens", .min = 0, .max = 16384, .aliases = {"max_predictions_per_seq"}});
  v("whole_word", whole_word, "mask all pieces of a word together", {.aliases = {"do_whole_word_mask"}});
  v("random_ids", random_ids, "ids a random replacement is drawn from; all is Google's: special and unused ones too");
  v("shuffle_reading", shuffle_reading, "how the share of shuffled spans is read; per-start is AliceMind's code");
  v("shuffle_share", shuffle_share, "spans to shuffle per token counted", share);
  v("shuffle_start_probability", shuffle_start_probability, "per-start: chance of each position to start a span",
    share);
  v("shuffle_span", shuffle_span, "K, the length of a shuffled span", {.unit = "tokens", .min = 2, .max = 64});
  v("shuffle_identity", shuffle_identity, "allow the order that changes nothing among the K! orders of a span");
  v("shuffle_targets", shuffle_targets, "positions of a span to predict; per-start always predicts the changed ones");
  v("random_weight", random_weight, "weight of the class random, among the weights of the task's classes", {.min = 0});
  v("next_weight", next_weight, "weight of the class next", {.min = 0});
  v("previous_weight", previous_weight, "weight of the class previous (three-way task)", {.min = 0});
  v("sentence_labels", sentence_labels, "label ids 0, 1, 2 of the three-way task; kept in the checkpoint");
}

void apply_arm(Arm arm, ObjectiveOptions& options) {
  const Tasks tasks = tasks_of(arm);
  options.arm = arm;
  options.word_task = tasks.word;
  options.sentence_task = tasks.sentence;
  options.pair_sampling = tasks.pairs;
}

ObjectiveOptions resolved(ObjectiveOptions options) {
  const Tasks tasks = tasks_of(options.arm);
  if (options.word_task == WordTask::Arm) options.word_task = tasks.word;
  if (options.sentence_task == SentenceTask::Arm) options.sentence_task = tasks.sentence;
  if (options.pair_sampling == PairSampling::Arm) options.pair_sampling = tasks.pairs;
  check(options);
  return options;
}

std::vector<std::string> sentence_label_names(const ObjectiveOptions& options) {
  switch (options.sentence_task) {
    case SentenceTask::None:
      return {};
    case SentenceTask::NextSentence:
      return {"next", "random"};
    case SentenceTask::ThreeWay:
      if (options.sentence_labels == SentenceLabels::RandomNextPrevious) return {"random", "next", "previous"};
      return {"next", "previous", "random"};
    case SentenceTask::Arm:
      break;
  }
  throw InternalError("sentence_label_names needs resolved options");
}

}  // namespace eflops::data
