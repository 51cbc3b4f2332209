#include "data/pretrain_sampler.h"

#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"

namespace eflops::data {

PretrainSampler::PretrainSampler(Corpus corpus, TokenRules rules, const ObjectiveOptions& options, std::uint64_t seed)
    : corpus_(std::move(corpus)), rules_(std::move(rules)), options_(resolved(options)), seed_(seed) {
  if (corpus_.document_count() == 0) throw DataError("the corpus is empty; pre-training needs at least one document");
  if (corpus_.vocabulary_size() != rules_.vocabulary_size)
    throw DataError(
        "the corpus has ids of a vocabulary of {}, the tokenizer has {} pieces; use the one it was made with",
        corpus_.vocabulary_size(), rules_.vocabulary_size);
  const auto size = static_cast<std::size_t>(rules_.vocabulary_size);
  EFLOPS_CHECK(rules_.fixed.size() == size && rules_.continues_word.size() == size, "token rules of another size");
  if (options_.random_ids == RandomIds::Ordinary && rules_.ordinary.empty())
    throw DataError("the vocabulary has special pieces only; random_ids: ordinary needs at least one other");
  if (options_.sentence_task == SentenceTask::None) return;
  if (!has_random_class(corpus_, options_)) {
    if (options_.next_weight + options_.previous_weight <= 0)
      throw ConfigError("a one-document corpus has no random class, and next_weight and previous_weight are 0");
    log::warning("the corpus is one document: no random class, only next and previous");
  } else if (corpus_.document_count() == 1) {
    log::warning("the corpus is one document: random segments are taken from the same one");
  }
}

EpochPlan PretrainSampler::plan(std::int64_t epoch, PlanThreads threads) const {
  EpochPlan made = plan_epoch(corpus_, options_, seed_, epoch, threads);
  if (made.instances.empty())
    throw DataError("{} document(s) of one sentence give no pair of sentences; add text or set sentence_task: none",
                    corpus_.document_count());
  return made;
}

PretrainInstance PretrainSampler::make_instance(const EpochPlan& plan, std::int64_t index) const {
  return data::make_instance({corpus_, rules_, options_, seed_}, plan, index);
}

PackedTextBatch PretrainSampler::make_batch(const EpochPlan& plan, SampleRange range) const {
  std::vector<PretrainInstance> instances;
  for (std::int64_t index = range.begin; index < range.end; ++index) instances.push_back(make_instance(plan, index));
  return pack(instances);
}

std::uint64_t PretrainSampler::fingerprint() const {
  ObjectiveOptions copy = options_;
  return hash64(config_hash(OptionSet(copy)), seed_ ^ corpus_.hash());
}

PretrainStream::PretrainStream(const PretrainSampler& sampler, StreamPosition start)
    : sampler_(sampler), position_(start), plan_(sampler.plan(start.epoch)) {
  if (start.epoch < 0 || start.next < 0 || start.next > plan_.size())
    throw DataError("sample {} of epoch {} lies beyond its {} samples; the position belongs to other data or options",
                    start.next, start.epoch, plan_.size());
}

PretrainBatch PretrainStream::next(const BatchCut& cut) {
  EFLOPS_CHECK(cut.first_shard >= 0 && cut.shard_count >= 0 && cut.first_shard + cut.shard_count <= cut.shards,
               "shards [{}, +{}) of {}", cut.first_shard, cut.shard_count, cut.shards);
  PretrainBatch batch;
  for (std::int64_t shard = 0; shard < cut.shards; ++shard) {
    const SampleRange range = shard_range(cut.global_batch, cut.shards, shard);
    const bool wanted = shard >= cut.first_shard && shard < cut.first_shard + cut.shard_count;
    std::vector<PretrainInstance> instances;
    for (std::int64_t sample = range.begin; sample < range.end; ++sample) {
      if (position_.next == plan_.size()) {
        batch.ended_epochs.push_back(plan_.size());
        position_ = {position_.epoch + 1, 0};
        plan_ = sampler_.plan(position_.epoch, PlanThreads::Caller);
      }
      if (wanted) instances.push_back(sampler_.make_instance(plan_, position_.next));
      ++position_.next;
    }
    if (wanted) batch.shards.push_back(pack(instances));
  }
  batch.end = position_;
  return batch;
}

}  // namespace eflops::data
