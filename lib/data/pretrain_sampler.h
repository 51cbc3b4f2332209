#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "data/objective_options.h"
#include "data/objective_tokens.h"
#include "data/pretrain_batch.h"
#include "data/pretrain_instance.h"
#include "data/pretrain_plan.h"

namespace eflops::data {

/// Pre-training instances of a corpus, made when asked for (DESIGN D7): a pure function of corpus, options, seed, epoch
/// and place, so they do not depend on threads, ranks, batch size or restarts. Held-out text gets a sampler with its
/// own seed, of which one epoch is used. Const and thread-safe.
class PretrainSampler {
 public:
  /// ConfigError for contradicting options, or when neither class of a one-document corpus has a weight; DataError when
  /// the corpus is empty or of another vocabulary size than `rules`. Warns when a one-document corpus gives no random
  /// class.
  PretrainSampler(Corpus corpus, TokenRules rules, const ObjectiveOptions& options, std::uint64_t seed);

  /// The instances of one epoch in training order. DataError when the corpus gives none.
  EpochPlan plan(std::int64_t epoch, PlanThreads threads = PlanThreads::Pool) const;
  PretrainInstance make_instance(const EpochPlan& plan, std::int64_t index) const;
  /// Instances [begin, end) of the plan, packed.
  PackedTextBatch make_batch(const EpochPlan& plan, SampleRange range) const;

  const Corpus& corpus() const { return corpus_; }
  const ObjectiveOptions& options() const { return options_; }  ///< resolved
  /// Identity of everything the order and content of samples depend on, to refuse a resume on other data.
  std::uint64_t fingerprint() const;

 private:
  Corpus corpus_;
  TokenRules rules_;
  ObjectiveOptions options_;
  std::uint64_t seed_;
};

/// Place in the endless stream of samples, epoch after epoch: all that a checkpoint must keep of the data.
struct StreamPosition {
  std::int64_t epoch = 0;
  std::int64_t next = 0;  ///< place in the epoch's order of the next sample to use

  bool operator==(const StreamPosition&) const = default;
};

/// A global batch, cut into micro-shards before ranks are known; a rank makes only [first_shard, first_shard +
/// shard_count).
struct BatchCut {
  std::int64_t global_batch = 1;  ///< sequences per step, over all shards
  std::int64_t shards = 1;        ///< S of DESIGN D8
  std::int64_t first_shard = 0;
  std::int64_t shard_count = 1;
};

struct PretrainBatch {
  std::vector<PackedTextBatch> shards;          ///< those asked for, in order
  StreamPosition end;                           ///< where the stream stands after the whole global batch
  std::vector<std::int64_t> ended_epochs = {};  ///< sizes of the epochs that the stream left for this batch, in order
};

/// The stream of global batches. A batch may span the end of an epoch; no sample is dropped or repeated within an
/// epoch. Single-threaded: one owner, such as the thread of a Prefetcher.
class PretrainStream {
 public:
  /// `sampler` must outlive the stream. DataError when `start` lies beyond its epoch (another corpus or other options).
  explicit PretrainStream(const PretrainSampler& sampler, StreamPosition start = {});

  PretrainBatch next(const BatchCut& cut);
  StreamPosition position() const { return position_; }

 private:
  const PretrainSampler& sampler_;
  StreamPosition position_;
  EpochPlan plan_;
};

}  // namespace eflops::data
