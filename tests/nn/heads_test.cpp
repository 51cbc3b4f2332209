#include <gtest/gtest.h>

#include "nn/embeddings.h"
#include "nn/masked_lm_head.h"
#include "nn/pooler.h"
#include "nn/sentence_head.h"
#include "reference_layers.h"

namespace eflops::nn {
namespace {

namespace ref = reference_layers;

constexpr std::int64_t kWidth = 6;
constexpr std::int64_t kVocabulary = 11;

Values gather(const Values& x, const Ids& rows) {
  Values y;
  for (const std::int32_t row : rows) y.insert(y.end(), x.begin() + row * kWidth, x.begin() + (row + 1) * kWidth);
  return y;
}

class Heads : public ::testing::TestWithParam<Precision> {
 protected:
  /// Sum of losses of the masked head in double.
  double masked_loss(const NamedValues& p, const Values& hidden) const {
    Values h = ref::linear(p, "cls.predictions.transform.dense", gather(hidden, rows_), kWidth);
    h = ref::norm(p, "cls.predictions.transform.LayerNorm", reference::gelu(h, kernels::Gelu::Erf));
    const Values logits = reference::linear(h, p.at("words"), p.at("cls.predictions.bias"), kWidth);
    return reference::cross_entropy(logits, kVocabulary, labels_).total;
  }

  LayerCheck check_{{4, 3}};
  const Ids rows_{6, 1, 1, 3};        // a row predicted twice adds both gradients
  const Ids labels_{10, 0, 4, -100};  // the last is not counted
  const Values hidden_ = random_values(7 * kWidth, 1);
};

TEST_P(Heads, MaskedLossAndGradientsEqualTheReferenceWithOneOrTwoPassesOverTheLogits) {
  const auto [dtype, tolerance] = GetParam();
  const ParameterRef words = check_.store.add({.name = "words", .shape = {kVocabulary, kWidth}});
  MaskedLmHead head(check_.store, {.vocabulary = kVocabulary, .width = kWidth, .dtype = dtype}, words);
  check_.start();
  const float scale = 0.5F;
  const double expected = masked_loss(check_.parameters(), hidden_);
  const Tensor hidden = to_tensor(check_.kept, hidden_, kWidth, dtype);
  std::vector<float> first_gradients;
  for (const std::optional<float> early : {std::optional<float>(), std::optional<float>(scale)}) {
    std::ranges::fill(check_.gradients, 0.0F);
    check_.ready.clear();
    const MaskedLoss loss = head.forward(hidden, {.rows = id_tensor(rows_), .labels = labels_}, early, check_.pass());
    EXPECT_NEAR(loss.sum, expected, tolerance * expected);
    EXPECT_EQ(loss.rows[3], 0.0);
    EXPECT_NEAR(loss.rows[0] + loss.rows[1] + loss.rows[2], loss.sum, 1e-9);
    const Tensor d_hidden = to_tensor(check_.scratch, Values(hidden_.size(), 1.0), kWidth, dtype);
    head.backward(scale, d_hidden, check_.pass());
    Values d_expected = LayerCheck::differences(
        [&](const Values& x) { return static_cast<double>(scale) * masked_loss(check_.parameters(), x); }, hidden_);
    for (double& value : d_expected) value += 1.0;  // added to what was there
    LayerCheck::expect_close(to_values(d_hidden), d_expected, tolerance, 0.0, "d_hidden");
    check_.expect_gradients([&](const NamedValues& p) { return static_cast<double>(scale) * masked_loss(p, hidden_); },
                            tolerance);
    if (early) {
      EXPECT_EQ(check_.gradients, first_gradients);
    }
    first_gradients = check_.gradients;
  }
}

TEST_P(Heads, PoolerAndSentenceHeadEqualTheReference) {
  const auto [dtype, tolerance] = GetParam();
  Pooler pooler(check_.store, {.width = kWidth, .dtype = dtype});
  SentenceHead head(check_.store, {.width = kWidth, .classes = 3, .dtype = dtype});
  check_.start();
  const Ids first{0, 4};
  const Ids labels{2, 1};
  const auto logits_of = [&](const NamedValues& p, const Values& x) {
    const Values pooled = reference::tanh(ref::linear(p, "bert.pooler.dense", gather(x, first), kWidth));
    return ref::linear(p, "cls.seq_relationship", pooled, kWidth);
  };
  const auto objective = [&](const NamedValues& p, const Values& x) {
    return 0.25 * reference::cross_entropy(logits_of(p, x), 3, labels).total;
  };
  const Tensor hidden = to_tensor(check_.kept, hidden_, kWidth, dtype);
  const Tensor logits = head.forward(pooler.forward(hidden, id_tensor(first), check_.pass()), check_.pass());
  const Values expected = logits_of(check_.parameters(), hidden_);
  LayerCheck::expect_close(to_values(logits), expected, tolerance, 0.0, "logits");
  const ClassLoss loss = head.loss(labels, logits);
  EXPECT_NEAR(loss.sum, 4.0 * objective(check_.parameters(), hidden_), tolerance * 4.0);
  const Tensor d_hidden = to_tensor(check_.scratch, Values(hidden_.size()), kWidth, dtype);
  pooler.backward(head.backward(labels, 0.25F, check_.pass()), d_hidden, check_.pass());
  LayerCheck::expect_close(
      to_values(d_hidden),
      LayerCheck::differences([&](const Values& x) { return objective(check_.parameters(), x); }, hidden_), tolerance,
      0.0, "d_hidden");
  check_.expect_gradients([&](const NamedValues& p) { return objective(p, hidden_); }, tolerance);
  check_.expect_every_parameter_ready_once();
}

INSTANTIATE_TEST_SUITE_P(All, Heads, ::testing::Values(kF32, kBf16), precision_name);

TEST(MaskedLmHead, ManyPredictionsOfALargeVocabularyRunInBlocks) {
  // 20,000 words of 4 bytes: kLogitBytes hold 629 rows, so 700 predictions make two blocks of 384 and 316.
  constexpr std::int64_t kWords = 20'000;
  LayerCheck check({1});
  const ParameterRef words = check.store.add({.name = "words", .shape = {kWords, kWidth}});
  MaskedLmHead head(check.store, {.vocabulary = kWords, .width = kWidth}, words);
  check.start();
  const Tensor hidden = to_tensor(check.kept, random_values(kWidth, 1), kWidth, DType::F32);
  const Ids rows(700, 0);
  const Ids labels(700, 7);
  const MaskedLoss loss = head.forward(hidden, {.rows = id_tensor(rows), .labels = labels}, std::nullopt, check.pass());
  const Ids one{0};
  const MaskedLoss single =
      head.forward(hidden, {.rows = id_tensor(one), .labels = std::span(labels).first(1)}, std::nullopt, check.pass());
  // All predictions are the same one.
  EXPECT_NEAR(loss.sum, 700.0 * single.sum, 1e-5 * loss.sum);
  EXPECT_LE(check.scratch.peak_bytes(), MaskedLmHead::kLogitBytes);
}

}  // namespace
}  // namespace eflops::nn
