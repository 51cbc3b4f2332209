#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "data/loader.h"
#include "data/pretrain_sampler.h"
#include "text/tokenizer.h"

namespace eflops::programs {

/// The text a run learns from and is judged on.
struct PretrainDataOptions {
  std::vector<std::string> train;
  std::vector<std::string> held_out;
  std::int64_t prefetch = 4;
  std::int64_t synthetic_vocabulary = 30522;

  void visit_fields(OptionVisitor& v);
};

/// Which random streams a sampler draws from; held-out instances never change with the seed of training.
struct PretrainSeeds {
  std::uint64_t train = 1;
  std::uint64_t held_out = 12345;
};

/// The opened text: samplers over training and held-out shards and the tokenizer that made them. `--data.train
/// synthetic` gives random ids in full-length instances instead, for timing: no tokenizer, no held-out text.
class PretrainText {
 public:
  /// ConfigError when nothing is named; DataError when shards are damaged, differ in vocabulary, or training and
  /// held-out text are the same shards.
  PretrainText(const PretrainDataOptions& options, const data::ObjectiveOptions& objective, const PretrainSeeds& seeds);

  const data::PretrainSampler& train() const { return *train_; }
  /// Null when no held-out text was given.
  const data::PretrainSampler* held_out() const { return held_out_.get(); }
  /// Null for synthetic text.
  const text::Tokenizer* tokenizer() const { return tokenizer_.get(); }
  std::int32_t vocabulary_size() const { return train_->corpus().vocabulary_size(); }

 private:
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::unique_ptr<data::PretrainSampler> train_;
  std::unique_ptr<data::PretrainSampler> held_out_;
};

/// Training batches in stream order, made ahead in a background thread.
class PretrainLoader {
 public:
  PretrainLoader(const data::PretrainSampler& sampler, const data::BatchCut& cut, data::StreamPosition start,
                 std::int64_t prefetch);

  /// The next global batch, cut into micro-shards; TimeoutError after ten minutes without one.
  data::PretrainBatch next() { return prefetcher_->next(); }

 private:
  std::unique_ptr<data::PretrainStream> stream_;
  std::unique_ptr<data::Prefetcher<data::PretrainBatch>> prefetcher_;  ///< its thread uses stream_: declared after it
};

}  // namespace eflops::programs
