#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "data/cover_check.h"
#include "models/structbert.h"
#include "programs/pretrain_data.h"
#include "programs/pretrain_scores.h"
#include "train/trainable.h"

namespace eflops::programs {

/// Sizes of what a step and an evaluation see.
struct PretrainTaskOptions {
  std::int64_t batch_size = 32;  ///< global: sequences per optimiser step, over all micro-shards
  std::int64_t evaluation_instances = 1000;
  std::int64_t evaluation_batch = 32;
  std::int64_t prefetch = 4;
  std::uint64_t seed = 1;
};

/// StructBERT pre-training as the loop sees it. The loss is the mean over predicted tokens (masked and shuffled alike,
/// StructBERT section 2.1) plus the mean over sentence labels; both denominators are counted over the whole global
/// batch.
class PretrainTask : public train::Trainable {
 public:
  PretrainTask(models::StructBert& model, const PretrainText& text, const PretrainTaskOptions& options);

  nn::ParameterStore& parameters() override { return model_.parameters(); }
  void begin_step(std::int64_t shards) override;
  void run_shard(std::int64_t shard) override;
  train::StepReport end_step() override;
  train::EvaluationReport evaluate() override;
  std::string data_position() const override;
  void restore_data_position(const std::string& position) override;

  /// Scores on the fixed held-out instances with the weights as they are: the last evaluation's where no step came
  /// after it. DataError when no held-out text was given.
  const PretrainScores& held_out_scores();
  /// CheckFailed unless each sample between the first step of this process and the last was used exactly once.
  void check_data_cover() const { cover_.verify(position_); }

 private:
  models::StructBert& model_;
  const PretrainText& text_;
  PretrainTaskOptions options_;
  data::StreamPosition position_;
  data::CoverCheck cover_;
  std::unique_ptr<PretrainLoader> loader_;
  data::PretrainBatch batch_;
  train::StepReport report_;
  PretrainScores scores_;
  std::optional<UnigramBaseline> unigram_;         ///< of the training text, once it is evaluated
  std::optional<PretrainScores> held_out_scores_;  ///< of the weights as they are
  double sentence_loss_ = 0;
  std::int64_t predictions_ = 0;
  std::int64_t sentences_ = 0;
};

/// A packed batch as the model takes it; views, no copies.
models::StructBertInput model_input(const data::PackedTextBatch& batch);

}  // namespace eflops::programs
