#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/pretrain_batch.h"
#include "train/trainable.h"

namespace eflops::programs {

/// Right answers out of all.
struct Tally {
  std::int64_t right = 0;
  std::int64_t all = 0;
  void add(bool correct) {
    right += correct ? 1 : 0;
    ++all;
  }
  /// NaN when nothing was counted.
  double share() const;
};

/// The model's answers for one packed batch: P predictions and B sentences (none without a sentence task).
struct PretrainAnswers {
  std::span<const float> token_losses;            ///< (P) -log p of the label
  std::span<const std::int32_t> tokens;           ///< (P) most probable token
  std::span<const std::int32_t> sentence_labels;  ///< (B) most probable class, or empty
};

/// How often the pieces of a vocabulary occur in a corpus: the honest baseline for masked tokens.
class UnigramBaseline {
 public:
  explicit UnigramBaseline(const data::Corpus& corpus);
  /// The most frequent piece: what the best guess without context says.
  std::int32_t best() const { return best_; }
  /// -log of the piece's share, add-one smoothed.
  double loss(std::int32_t token) const;

 private:
  std::vector<std::int64_t> counts_;
  double total_ = 0;
  std::int32_t best_ = 0;
};

/// What the model got right on some batches, beside baselines that know nothing: the most frequent token for masked
/// tokens, the token that stands there for shuffled ones, one fixed class for sentences.
struct PretrainScores {
  Tally masked, masked_baseline;
  Tally shuffled, shuffled_baseline;
  Tally sentence;
  std::vector<std::int64_t> sentence_classes;                           ///< how often each class occurred
  double masked_loss = 0, masked_baseline_loss = 0, shuffled_loss = 0;  ///< sums of -log p

  /// `unigram` may be null: then the masked baseline stays empty.
  void add(const data::PackedTextBatch& batch, const PretrainAnswers& answers, const UnigramBaseline* unigram);

  double masked_perplexity() const;
  double unigram_perplexity() const;
  /// Right answers of always naming the most frequent class.
  Tally sentence_baseline() const;
  /// masked_accuracy, masked_perplexity, shuffled_accuracy, sentence_accuracy and their counts; those that were asked.
  std::vector<train::NamedValue> metrics() const;
};

/// The table of scores beside baselines with binomial 95 % intervals, for people.
std::string score_table(const PretrainScores& scores);

}  // namespace eflops::programs
