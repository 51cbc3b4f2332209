#include "models/structbert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "batch.h"
#include "golden.h"
#include "models/structbert_cost.h"

namespace eflops::models {
namespace {

using Sequences = std::vector<Batch::Sequence>;

const Sequences kSequences{{.length = 11, .key = 1, .sentence_label = 0},
                           {.length = 101, .key = 2, .sentence_label = 2},
                           {.length = 30, .key = 3, .sentence_label = 1}};

TEST(StructBert, HasHuggingFacesParameterNames) {
  StructBert model(small_options(), 1);
  for (const char* name :
       {"bert.embeddings.word_embeddings.weight", "bert.embeddings.LayerNorm.bias",
        "bert.encoder.layer.1.attention.self.value.bias", "bert.encoder.layer.0.attention.output.LayerNorm.weight",
        "bert.encoder.layer.1.intermediate.dense.weight", "bert.encoder.layer.1.output.dense.bias",
        "bert.pooler.dense.weight", "cls.predictions.bias", "cls.predictions.transform.dense.weight",
        "cls.predictions.transform.LayerNorm.weight", "cls.seq_relationship.bias"})
    EXPECT_NE(model.parameters().find(name), nullptr) << name;
  for (const nn::Parameter& parameter : model.parameters().parameters())
    EXPECT_EQ(parameter.decays,
              !parameter.name.ends_with("bias") && parameter.name.find("LayerNorm") == std::string::npos)
        << parameter.name;
}

TEST(StructBert, BertBaseHas110MillionParameters) {
  // google-research/bert's uncased base: 109,482,240 with the pooler; transform 768·768 + 3·768, output bias 30,522 and
  // the 3-way head 3·769 come on top.
  StructBertOptions options;
  options.set_size(StructBertSize::Base);
  EXPECT_EQ(parameter_count(options), 109'482'240 + 768 * 768 + 3 * 768 + 30'522 + 3 * 769);
}

TEST(StructBert, TheClosedFormCountsItsParameters) {
  StructBert model(small_options(), 1);
  EXPECT_EQ(parameter_count(small_options()), model.parameters().parameter_count());
}

TEST(StructBert, ForwardThenBackwardEqualsBothInOneBitForBit) {
  const Batch batch(kSequences, small_options());
  Bound apart(small_options());
  Bound together(small_options());
  const StructBertLoss first = apart.model.forward(batch.input(), Mode::Train);
  apart.model.backward(0.5F, 0.25F);
  const StructBertLoss second = together.model.forward_backward(batch.input(), 0.5F, 0.25F);
  EXPECT_EQ(first.masked_sum, second.masked_sum);
  EXPECT_EQ(first.per_prediction_loss, second.per_prediction_loss);
  EXPECT_EQ(apart.gradients, together.gradients);
}

TEST(StructBert, AStepRepeatsBitForBitWithDropout) {
  const Batch batch(kSequences, small_options());
  Bound bound(small_options());
  bound.model.forward_backward(batch.input(), 1.0F, 1.0F);
  const std::vector<float> first = bound.gradients;
  std::ranges::fill(bound.gradients, 0.0F);
  bound.model.forward(Batch({{.length = 5, .key = 9}}, small_options()).input(), Mode::Evaluate);
  bound.model.forward_backward(batch.input(), 1.0F, 1.0F);
  EXPECT_EQ(bound.gradients, first);
}

TEST(StructBert, LossesDoNotDependOnTheThreadCount) {
  const Batch batch(kSequences, small_options());
  const int usual = thread_count();
  std::vector<StructBertLoss> losses;
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    Bound bound(small_options());
    losses.push_back(bound.model.forward(batch.input(), Mode::Train));
  }
  set_thread_count(usual);
  // oneDNN may split long sums otherwise for another number of threads: rounding, no more.
  EXPECT_NEAR(losses[0].masked_sum, losses[1].masked_sum, 1e-6 * losses[0].masked_sum);
  EXPECT_NEAR(losses[0].sentence_sum, losses[1].sentence_sum, 1e-6 * losses[0].sentence_sum);
  EXPECT_EQ(losses[0].predicted_argmax, losses[1].predicted_argmax);
}

/// Losses of one packed batch against the same sequences laid out with padding: rows of a [B, longest] matrix whose
/// unused ends are sequences of their own that nobody reads.
double padded_difference(Precision precision) {
  StructBertOptions options = small_options();
  options.precision = precision;
  options.dropout = options.attention_dropout = 0.0;
  const Batch packed(kSequences, options);
  Batch padded({}, options);
  for (std::size_t i = 0; i < kSequences.size(); ++i) {
    const Batch one({kSequences[i]}, options);
    const Batch filler({{.length = 101 - kSequences[i].length, .key = 77}}, options);
    const std::int32_t first = padded.offsets.back();
    for (const Batch* part : {&one, &filler}) {
      padded.tokens.insert(padded.tokens.end(), part->tokens.begin(), part->tokens.end());
      padded.segments.insert(padded.segments.end(), part->segments.begin(), part->segments.end());
      padded.positions.insert(padded.positions.end(), part->positions.begin(), part->positions.end());
      padded.offsets.push_back(static_cast<std::int32_t>(padded.tokens.size()));
    }
    for (const std::int32_t row : one.predicted_rows) padded.predicted_rows.push_back(first + row);
    padded.predicted_labels.insert(padded.predicted_labels.end(), one.predicted_labels.begin(),
                                   one.predicted_labels.end());
    padded.sentence_labels.insert(padded.sentence_labels.end(), {kSequences[i].sentence_label, -100});
    padded.sample_keys.insert(padded.sample_keys.end(), {1, 2});
  }
  StructBert model(options, 3);
  const StructBertLoss a = model.forward(packed.input(), Mode::Evaluate);
  const StructBertLoss b = model.forward(padded.input(), Mode::Evaluate);
  return std::max(std::abs(a.masked_sum - b.masked_sum) / a.masked_sum,
                  std::abs(a.sentence_sum - b.sentence_sum) / a.sentence_sum);
}

TEST(StructBert, PaddedAndPackedLossesAgree) {  // D6
  EXPECT_LE(padded_difference(Precision::F32), 1e-6);
  EXPECT_LE(padded_difference(Precision::BF16), 1e-3);
}

TEST(StructBert, ASentenceHasTheSameStatesAloneAndBesideALongOne) {  // T46
  StructBert model(small_options(), 3);
  model.forward(Batch({kSequences[0]}, small_options()).input(), Mode::Evaluate);
  const tensor::Tensor alone = model.hidden();
  model.forward(Batch({kSequences[0], {.length = 128, .key = 5}}, small_options()).input(), Mode::Evaluate);
  const tensor::Tensor beside = model.hidden().row_range(0, 11);
  EXPECT_LE(largest_difference(alone.values<float>(), beside.values<float>()), 1e-5);
}

TEST(StructBert, AccumulatedGradientsEqualTheBigBatch) {  // T29: 11 and 101 tokens
  const Sequences two{kSequences[0], kSequences[1]};
  Bound whole(small_options());
  const Batch both(two, small_options());
  const float scale = 1.0F / static_cast<float>(both.predicted_rows.size());
  const StructBertLoss loss = whole.model.forward_backward(both.input(), scale, 0.5F);
  Bound parts(small_options());
  double masked = 0.0;
  double sentence = 0.0;
  for (const Batch::Sequence& sequence : two) {
    const StructBertLoss part = parts.model.forward_backward(Batch({sequence}, small_options()).input(), scale, 0.5F);
    masked += part.masked_sum;
    sentence += part.sentence_sum;
  }
  EXPECT_NEAR(masked, loss.masked_sum, 1e-6 * masked);
  EXPECT_NEAR(sentence, loss.sentence_sum, 1e-6 * sentence);
  EXPECT_LE(distance(parts.gradients, whole.gradients), 1e-5 * norm(whole.gradients));
}

TEST(StructBert, EmptySequencesChangeNothing) {  // T25
  Bound with(small_options());
  Bound without(small_options());
  const Batch batch({kSequences[0], kSequences[2]}, small_options());
  const Batch gaps({{.length = 0, .key = 8, .sentence_label = -100},
                    kSequences[0],
                    {.length = 0, .key = 9, .sentence_label = -100},
                    kSequences[2]},
                   small_options());
  const StructBertLoss a = without.model.forward_backward(batch.input(), 1.0F, 1.0F);
  const StructBertLoss b = with.model.forward_backward(gaps.input(), 1.0F, 1.0F);
  EXPECT_EQ(a.masked_sum, b.masked_sum);
  EXPECT_EQ(a.sentence_sum, b.sentence_sum);
  EXPECT_EQ(b.sentence_argmax.size(), 4U);
  EXPECT_EQ(b.sentence_argmax[0], -1);
  EXPECT_EQ(with.gradients, without.gradients);
}

TEST(StructBert, ABatchWithNothingToPredictHasZeroLossAndGradient) {
  Bound bound(small_options());
  Batch batch({kSequences[0]}, small_options());
  batch.predicted_rows.clear();
  batch.predicted_labels.clear();
  batch.sentence_labels.clear();
  const StructBertLoss loss = bound.model.forward_backward(batch.input(), 1.0F, 1.0F);
  EXPECT_EQ(loss.masked_sum, 0.0);
  EXPECT_TRUE(loss.sentence_argmax.empty());
  for (const float gradient : bound.gradients) ASSERT_EQ(gradient, 0.0F);
  EXPECT_NO_THROW(bound.model.forward_backward(Batch({}, small_options()).input(), 1.0F, 1.0F));
}

TEST(StructBert, GradientsAreReadyOnceInAFixedOrderAndThenComplete) {
  const Batch batch(kSequences, small_options());
  Bound bound(small_options());
  std::map<std::string, std::vector<float>> at_ready;
  std::vector<std::string> order;
  const auto note = [&](const nn::ParameterRef& parameter) {
    order.push_back(parameter.info().name);
    at_ready[order.back()] = {parameter.gradient(), parameter.gradient() + parameter.info().elements()};
  };
  bound.model.forward_backward(batch.input(), 1.0F, 1.0F, note);
  EXPECT_EQ(order.size(), bound.model.parameters().parameters().size());
  EXPECT_EQ(at_ready.size(), order.size());
  EXPECT_EQ(order.back(), "bert.embeddings.word_embeddings.weight");  // the tied decoder added to it first
  for (const nn::Parameter& parameter : bound.model.parameters().parameters()) {
    const auto* final = bound.gradients.data() + parameter.offset;
    EXPECT_TRUE(std::equal(at_ready[parameter.name].begin(), at_ready[parameter.name].end(), final)) << parameter.name;
  }
  const std::vector<std::string> first = order;
  order.clear();
  bound.model.forward_backward(Batch({kSequences[0]}, small_options()).input(), 1.0F, 1.0F, note);
  EXPECT_EQ(order, first);
}

TEST(StructBert, GradientsFollowTheBufferThatIsBound) {
  const Batch batch({kSequences[0]}, small_options());
  Bound bound(small_options());
  bound.model.forward_backward(batch.input(), 1.0F, 1.0F);
  std::vector<float> fresh(bound.gradients.size());
  bound.model.parameters().bind_gradients(fresh.data());
  bound.model.forward_backward(batch.input(), 1.0F, 1.0F);
  EXPECT_EQ(fresh, bound.gradients);
}

TEST(StructBert, BackwardNeedsATrainingForward) {
  Bound bound(small_options());
  const Batch batch({kSequences[0]}, small_options());
  EXPECT_THROW(bound.model.backward(1.0F, 1.0F), InternalError);
  bound.model.forward(batch.input(), Mode::Evaluate);
  EXPECT_THROW(bound.model.backward(1.0F, 1.0F), InternalError);
  bound.model.forward(batch.input(), Mode::Train);
  bound.model.backward(1.0F, 1.0F);
  EXPECT_THROW(bound.model.backward(1.0F, 1.0F), InternalError);
}

TEST(StructBert, RepeatedStepsReserveNoMoreMemory) {
  Bound bound(small_options());
  const Batch large(kSequences, small_options());
  bound.model.forward_backward(large.input(), 1.0F, 1.0F);
  const std::int64_t peak = bound.model.peak_activation_bytes();
  for (int step = 0; step < 3; ++step) {
    bound.model.forward_backward(Batch({kSequences[1]}, small_options()).input(), 1.0F, 1.0F);
    bound.model.forward_backward(large.input(), 1.0F, 1.0F);
  }
  EXPECT_EQ(bound.model.peak_activation_bytes(), peak);
}

}  // namespace
}  // namespace eflops::models
