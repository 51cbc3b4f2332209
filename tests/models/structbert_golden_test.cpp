#include <gtest/gtest.h>

#include "golden.h"
#include "kernels/norm.h"
#include "kernels/optimizer.h"

// Tolerances are the issue's: logits 1e-5, gradients 1e-5 and weights 1e-4 of each tensor's norm, losses 1e-5 relative
// in f32; losses 2e-2 in bf16.
namespace eflops::models {
namespace {

/// A model with the golden's parameters and a gradient buffer of its own.
struct Trained {
  explicit Trained(const StructBertOptions& options) : model(options, 1) {
    golden.load_initial(model);
    gradients.resize(static_cast<std::size_t>(model.parameters().size()));
    m = v = gradients;
    model.parameters().bind_gradients(gradients.data());
  }

  double loss_of(const StructBertLoss& loss) const {
    return loss.masked_sum / 9.0 + loss.sentence_sum / 3.0;  // labels in the golden's batch
  }

  /// One forward and backward; returns the mean loss.
  double accumulate() {
    return loss_of(model.forward_backward(golden.input(), golden.masked_scale(), golden.sentence_scale()));
  }

  /// The golden's AdamW step number `step` = 1, 2, …
  void update(int step) {
    nn::ParameterStore& store = model.parameters();
    const auto adam = golden.record.at("adam");
    const double total = std::sqrt(kernels::sum_of_squares(gradients.data(), store.size()));
    for (const nn::ParameterStore::Segment& segment : store.segments()) {
      const kernels::AdamStep numbers{
          .learning_rate = adam.at("learning_rate"),
          .beta1 = adam.at("beta1"),
          .beta2 = adam.at("beta2"),
          .epsilon = adam.at("epsilon"),
          .weight_decay = segment.decays ? adam.at("weight_decay").get<float>() : 0.0F,
          .bias_correction1 = static_cast<float>(1.0 - std::pow(adam.at("beta1").get<double>(), step)),
          .bias_correction2 = static_cast<float>(1.0 - std::pow(adam.at("beta2").get<double>(), step)),
          .gradient_scale = static_cast<float>(std::min(1.0, adam.at("max_gradient_norm").get<double>() / total))};
      kernels::adamw_update({.values = store.values().data() + segment.offset,
                             .gradients = gradients.data() + segment.offset,
                             .m = m.data() + segment.offset,
                             .v = v.data() + segment.offset,
                             .n = segment.count},
                            numbers);
    }
    store.refresh();
    std::ranges::fill(gradients, 0.0F);
  }

  std::vector<double> train_five_steps() {
    std::vector<double> losses;
    for (int step = 1; step <= 5; ++step) {
      losses.push_back(accumulate());
      update(step);
    }
    losses.push_back(loss_of(model.forward(golden.input(), Mode::Evaluate)));
    return losses;
  }

  Golden golden;
  StructBert model;
  std::vector<float> gradients, m, v;
};

TEST(StructBertGolden, ParametersHaveTheGoldensNamesAndShapes) {
  const Golden golden;
  StructBert model(golden.options(), 1);
  EXPECT_NO_THROW(golden.load_initial(model));
}

TEST(StructBertGolden, LogitsAndLossesAgree) {
  Trained trained(Golden().options());
  const StructBertLoss loss = trained.model.forward(trained.golden.input(), Mode::Evaluate);
  EXPECT_LT(largest_difference(trained.model.hidden().values<float>(), trained.golden.tensor("hidden")), 1e-5);
  EXPECT_LT(largest_difference(trained.model.masked_logits().values<float>(), trained.golden.tensor("masked_logits")),
            1e-5);
  EXPECT_LT(
      largest_difference(trained.model.sentence_logits().values<float>(), trained.golden.tensor("sentence_logits")),
      1e-5);
  const double masked = trained.golden.record.at("masked_sum");
  const double sentence = trained.golden.record.at("sentence_sum");
  EXPECT_NEAR(loss.masked_sum, masked, 1e-5 * masked);
  EXPECT_NEAR(loss.sentence_sum, sentence, 1e-5 * sentence);
}

TEST(StructBertGolden, TanhGeluAgrees) {
  StructBertOptions options = Golden().options();
  options.gelu = Gelu::Tanh;
  Trained trained(options);
  trained.model.forward(trained.golden.input(), Mode::Evaluate);
  EXPECT_LT(
      largest_difference(trained.model.masked_logits().values<float>(), trained.golden.tensor("masked_logits_tanh")),
      1e-5);
}

TEST(StructBertGolden, GradientsAgree) {
  Trained trained(Golden().options());
  trained.accumulate();
  double whole = 0.0;
  for (const nn::Parameter& parameter : trained.model.parameters().parameters())
    whole = std::hypot(whole, norm(trained.golden.tensor("gradient/" + parameter.name)));
  for (const nn::Parameter& parameter : trained.model.parameters().parameters()) {
    const std::vector<float> expected = trained.golden.tensor("gradient/" + parameter.name);
    const auto actual =
        std::span(trained.gradients)
            .subspan(static_cast<std::size_t>(parameter.offset), static_cast<std::size_t>(parameter.elements()));
    // A key's bias has no gradient but rounding: softmax ignores what it adds. It is held to the whole gradient's norm.
    const double scale = parameter.name.ends_with("key.bias") ? whole : norm(expected);
    EXPECT_LT(distance(actual, expected), 1e-5 * scale) << parameter.name;
  }
}

TEST(StructBertGolden, FiveOptimiserStepsAgree) {
  Trained trained(Golden().options());
  const std::vector<double> losses = trained.train_five_steps();
  const std::vector<double> expected = trained.golden.record.at("losses");
  ASSERT_EQ(losses.size(), expected.size());
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 1e-5 * expected[i]) << i;
  for (const nn::Parameter& parameter : trained.model.parameters().parameters()) {
    const std::vector<float> weights = trained.golden.tensor("trained/" + parameter.name);
    EXPECT_LT(distance(trained.model.parameters().values_of(parameter), weights), 1e-4 * norm(weights))
        << parameter.name;
  }
}

TEST(StructBertGolden, FiveOptimiserStepsAgreeInBf16) {
  StructBertOptions options = Golden().options();
  options.precision = Precision::BF16;
  Trained trained(options);
  const std::vector<double> losses = trained.train_five_steps();
  const std::vector<double> expected = trained.golden.record.at("losses");
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 2e-2 * expected[i]) << i;
}

}  // namespace
}  // namespace eflops::models
