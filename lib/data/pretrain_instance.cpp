#include "data/pretrain_instance.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/objective_masking.h"
#include "data/objective_shuffle.h"

namespace eflops::data {
namespace {

using Tokens = std::vector<std::int32_t>;

Tokens read_sentences(const Corpus& corpus, std::int64_t document, std::int64_t first, std::int64_t count) {
  Tokens tokens;
  for (std::int64_t s = first; s < first + count; ++s) corpus.append_sentence(document, s, tokens);
  return tokens;
}

/// Sentences from a random place of a random other document, until there are `wanted` tokens or the document ends.
Tokens read_random(const Corpus& corpus, std::int64_t document, std::int64_t wanted, Random& random) {
  const std::int64_t documents = corpus.document_count();
  std::int64_t other = document;
  if (documents > 1) {
    other = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(documents - 1)));
    if (other >= document) ++other;
  }
  const std::int64_t sentences = corpus.sentence_count(other);
  auto at = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(sentences)));
  Tokens tokens;
  do {
    corpus.append_sentence(other, at++, tokens);
  } while (at < sentences && static_cast<std::int64_t>(tokens.size()) < wanted);
  return tokens;
}

std::pair<Tokens, Tokens> read_pair(const InstanceSource& source, const InstanceDescriptor& d, std::int64_t epoch,
                                    Random& random) {
  Tokens a = read_sentences(source.corpus, d.document, d.first, d.a_sentences);
  if (d.pair_class() == PairClass::Single) return {std::move(a), {}};
  if (d.pair_class() == PairClass::Random) {
    const std::int64_t target = target_length(source.options, source.seed, epoch, d.document);
    Tokens b = read_random(source.corpus, d.document, target - static_cast<std::int64_t>(a.size()), random);
    return {std::move(a), std::move(b)};
  }
  Tokens b = read_sentences(source.corpus, d.document, d.first + d.a_sentences, d.b_sentences);
  if (d.pair_class() == PairClass::Previous) return {std::move(b), std::move(a)};
  return {std::move(a), std::move(b)};
}

TokenSequence join(const Tokens& a, const Tokens& b, const PairCut& cut, const TokenRules& rules) {
  TokenSequence joined;
  joined.tokens.push_back(rules.cls);
  joined.tokens.insert(joined.tokens.end(), a.begin() + cut.a_begin, a.begin() + cut.a_end);
  joined.tokens.push_back(rules.sep);
  joined.segments.assign(joined.tokens.size(), 0);
  if (cut.b_end == cut.b_begin) return joined;
  joined.tokens.insert(joined.tokens.end(), b.begin() + cut.b_begin, b.begin() + cut.b_end);
  joined.tokens.push_back(rules.sep);
  joined.segments.resize(joined.tokens.size(), 1);
  return joined;
}

std::int32_t sentence_label(PairClass pair_class, const ObjectiveOptions& options) {
  if (pair_class == PairClass::Single) return -1;
  if (options.sentence_task == SentenceTask::NextSentence) return pair_class == PairClass::Next ? 0 : 1;
  const auto id = static_cast<std::int32_t>(pair_class);  // random 0, next 1, previous 2
  return options.sentence_labels == SentenceLabels::RandomNextPrevious ? id : (id + 2) % 3;
}

}  // namespace

PairCut truncate_pair(std::int64_t a_length, std::int64_t b_length, std::int64_t budget, Random& random) {
  PairCut cut{.a_end = a_length, .b_end = b_length};
  while (cut.a_end - cut.a_begin + cut.b_end - cut.b_begin > budget) {
    const bool from_a = cut.a_end - cut.a_begin > cut.b_end - cut.b_begin;
    if (random.uniform() < 0.5)
      ++(from_a ? cut.a_begin : cut.b_begin);
    else
      --(from_a ? cut.a_end : cut.b_end);
  }
  return cut;
}

std::uint64_t sample_id(std::int64_t epoch, std::int64_t index) {
  constexpr int kIndexBits = 40;
  EFLOPS_CHECK(index >> kIndexBits == 0 && epoch >> (63 - kIndexBits) == 0, "sample {} of epoch {}", index, epoch);
  return static_cast<std::uint64_t>(epoch) << kIndexBits | static_cast<std::uint64_t>(index);
}

PretrainInstance make_instance(const InstanceSource& source, const EpochPlan& plan, std::int64_t index) {
  EFLOPS_CHECK(index >= 0 && index < plan.size(), "instance {} of {}", index, plan.size());
  PretrainInstance made;
  made.sample_id = sample_id(plan.epoch, index);
  const InstanceDescriptor& descriptor = plan.instances[static_cast<std::size_t>(index)];
  made.pair_class = descriptor.pair_class();
  made.sentence_label = sentence_label(made.pair_class, source.options);

  Random pairing(source.seed, Purpose::SentenceOrder, made.sample_id);
  const auto [a, b] = read_pair(source, descriptor, plan.epoch, pairing);
  const auto a_length = static_cast<std::int64_t>(a.size());
  const auto b_length = static_cast<std::int64_t>(b.size());
  const PairCut cut = truncate_pair(a_length, b_length, text_budget(source.options), pairing);
  made.truncated_tokens = a_length + b_length - (cut.a_end - cut.a_begin + cut.b_end - cut.b_begin);

  TokenSequence sequence = join(a, b, cut, source.rules);
  Random masking(source.seed, Purpose::MaskedTokens, made.sample_id);
  mask_tokens(sequence.tokens, source.rules, source.options, masking, sequence.predictions);
  if (source.options.word_task == WordTask::MaskedAndShuffled) {
    Random shuffling(source.seed, Purpose::ShuffledTokens, made.sample_id);
    shuffle_tokens(sequence, source.rules, source.options, shuffling);
  }
  std::ranges::sort(sequence.predictions, {}, &Prediction::position);
  for (const Prediction& prediction : sequence.predictions) {
    made.predicted_positions.push_back(prediction.position);
    made.predicted_labels.push_back(prediction.label);
    made.predicted_kinds.push_back(prediction.kind);
  }
  made.tokens = std::move(sequence.tokens);
  made.segments = std::move(sequence.segments);
  return made;
}

}  // namespace eflops::data
