#include "programs/pretrain_task.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/random.h"
#include "models/structbert_cost.h"

namespace eflops::programs {
namespace {

PretrainAnswers answers_of(const models::StructBertLoss& loss) {
  return {loss.per_prediction_loss, loss.predicted_argmax, loss.sentence_argmax};
}

models::BatchShape shape_of(const data::PackedTextBatch& batch) {
  models::BatchShape shape{.sequences = batch.sequences(),
                           .tokens = static_cast<std::int64_t>(batch.tokens.size()),
                           .token_pairs = 0,
                           .predictions = static_cast<std::int64_t>(batch.predicted_rows.size())};
  for (std::size_t b = 0; b + 1 < batch.offsets.size(); ++b) {
    const std::int64_t length = batch.offsets[b + 1] - batch.offsets[b];
    shape.token_pairs += length * length;
  }
  return shape;
}

// Sample ids are the same for every seed; dropout must not be.
void key_dropout(data::PretrainBatch& batch, std::uint64_t seed) {
  for (data::PackedTextBatch& shard : batch.shards)
    for (std::uint64_t& key : shard.sample_keys) key = Random(seed, Purpose::Dropout, key).next_u64();
}

}  // namespace

models::StructBertInput model_input(const data::PackedTextBatch& batch) {
  models::StructBertInput input;
  input.tokens = batch.tokens;
  input.segments = batch.segments;
  input.positions = batch.positions;
  input.offsets = batch.offsets;
  input.predicted_rows = batch.predicted_rows;
  input.predicted_labels = batch.predicted_labels;
  input.sentence_labels = batch.sentence_labels;
  input.sample_keys = batch.sample_keys;
  return input;
}

PretrainTask::PretrainTask(models::StructBert& model, const PretrainText& text, const PretrainTaskOptions& options)
    : model_(model), text_(text), options_(options) {}

void PretrainTask::begin_step(std::int64_t shards) {
  if (!loader_) {
    const data::BatchCut cut{options_.batch_size, shards, 0, shards};
    loader_ = std::make_unique<PretrainLoader>(text_.train(), cut, position_, options_.prefetch);
  }
  batch_ = loader_->next();
  cover_.add(batch_);
  key_dropout(batch_, options_.seed);
  report_ = {};
  scores_ = {};
  sentence_loss_ = 0;
  predictions_ = 0;
  sentences_ = 0;
  for (const data::PackedTextBatch& shard : batch_.shards) {
    predictions_ += static_cast<std::int64_t>(shard.predicted_labels.size());
    sentences_ += static_cast<std::int64_t>(shard.sentence_labels.size());
    report_.tokens += static_cast<std::int64_t>(shard.tokens.size());
    report_.samples += shard.sequences();
  }
}

void PretrainTask::run_shard(std::int64_t shard) {
  const data::PackedTextBatch& batch = batch_.shards[static_cast<std::size_t>(shard)];
  const models::StructBertInput input = model_input(batch);
  // A batch may have nothing to predict: its mean is then 0, not 0/0.
  const auto token_scale = 1.0F / static_cast<float>(std::max<std::int64_t>(predictions_, 1));
  const auto sentence_scale = 1.0F / static_cast<float>(std::max<std::int64_t>(sentences_, 1));
  const models::StructBertLoss loss = model_.forward_backward(input, token_scale, sentence_scale);
  scores_.add(batch, answers_of(loss), nullptr);
  sentence_loss_ += loss.sentence_sum;
  report_.flops += models::training_flops(model_.options(), shape_of(batch));
}

train::StepReport PretrainTask::end_step() {
  const auto predictions = static_cast<double>(std::max<std::int64_t>(predictions_, 1));
  const double token_loss = (scores_.masked_loss + scores_.shuffled_loss) / predictions;
  const double sentence_loss = sentence_loss_ / static_cast<double>(std::max<std::int64_t>(sentences_, 1));
  report_.loss = token_loss + sentence_loss;
  report_.metrics = {{"token_loss", token_loss}};
  if (sentences_ > 0) report_.metrics.push_back({"sentence_loss", sentence_loss});
  report_.metrics.push_back({"masked_accuracy", scores_.masked.share()});
  if (scores_.shuffled.all > 0) report_.metrics.push_back({"shuffled_accuracy", scores_.shuffled.share()});
  if (scores_.sentence.all > 0) report_.metrics.push_back({"sentence_accuracy", scores_.sentence.share()});
  position_ = batch_.end;
  held_out_scores_.reset();
  return report_;
}

const PretrainScores& PretrainTask::held_out_scores() {
  const data::PretrainSampler* sampler = text_.held_out();
  if (sampler == nullptr) throw DataError("data.held_out names no text to be judged on");
  if (held_out_scores_) return *held_out_scores_;
  if (!unigram_) unigram_.emplace(text_.train().corpus());
  const data::EpochPlan plan = sampler->plan(0);
  const std::int64_t wanted =
      options_.evaluation_instances > 0 ? std::min(options_.evaluation_instances, plan.size()) : plan.size();
  PretrainScores scores;
  for (std::int64_t begin = 0; begin < wanted; begin += options_.evaluation_batch) {
    const std::int64_t end = std::min(wanted, begin + options_.evaluation_batch);
    const data::PackedTextBatch batch = sampler->make_batch(plan, {begin, end});
    scores.add(batch, answers_of(model_.forward(model_input(batch), nn::Mode::Evaluate)), &*unigram_);
  }
  return held_out_scores_.emplace(std::move(scores));
}

train::EvaluationReport PretrainTask::evaluate() {
  if (text_.held_out() == nullptr) return {};
  const PretrainScores& scores = held_out_scores();
  return {scores.metrics(), scores.masked_perplexity()};
}

std::string PretrainTask::data_position() const {
  Json position;
  position["epoch"] = position_.epoch;
  position["next"] = position_.next;
  position["fingerprint"] = hex64(text_.train().fingerprint());
  return to_json_line(position);
}

void PretrainTask::restore_data_position(const std::string& position) {
  const Json stored = parse_json(position, "the checkpoint's data position");
  const std::string now = hex64(text_.train().fingerprint());
  try {
    if (stored.at("fingerprint") != now)
      throw DataError("the training text or its objectives are not those of the checkpoint (fingerprint {}, stored {})",
                      now, stored.at("fingerprint").get<std::string>());
    position_ = {stored.at("epoch").get<std::int64_t>(), stored.at("next").get<std::int64_t>()};
  } catch (const Json::exception& error) {
    throw DataError("the checkpoint's data position is not one: {}", error.what());
  }
  cover_ = data::CoverCheck(position_);
  held_out_scores_.reset();
  loader_.reset();
}

}  // namespace eflops::programs
