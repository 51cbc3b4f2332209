#include <gtest/gtest.h>

#include "nn/embeddings.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "reference_layers.h"

namespace eflops::nn {
namespace {

namespace ref = reference_layers;

class BasicLayers : public ::testing::TestWithParam<Precision> {};

TEST_P(BasicLayers, FusedLinearEqualsItsPartsSideBySide) {
  const auto [dtype, tolerance] = GetParam();
  LayerCheck check({5});
  Linear layer(check.store, {.names = {"q", "k", "v"}, .inputs = 6, .outputs = 12, .dtype = dtype});
  check.start();
  const Values x = random_values(5 * 6, 1);
  const Values weights = random_values(5 * 12, 2);
  const auto forward = [&](const NamedValues& p, const Values& input) {
    const Values parts[] = {ref::linear(p, "q", input, 6), ref::linear(p, "k", input, 6),
                            ref::linear(p, "v", input, 6)};
    Values y;
    for (std::size_t row = 0; row < 5; ++row)
      for (const Values& part : parts)
        y.insert(y.end(), part.begin() + static_cast<int>(row * 4), part.begin() + static_cast<int>(row * 4 + 4));
    return y;
  };
  const Tensor y = layer.forward(to_tensor(check.kept, x, 6, dtype), check.pass());
  LayerCheck::expect_close(to_values(y), forward(check.parameters(), x), tolerance, 0.0, "y");
  const Tensor d_x = layer.backward(to_tensor(check.scratch, weights, 12, dtype), check.pass());
  LayerCheck::expect_close(
      to_values(d_x),
      LayerCheck::differences(
          [&](const Values& input) { return reference::weighted_sum(forward(check.parameters(), input), weights); }, x),
      tolerance, 0.0, "d_x");
  check.expect_gradients([&](const NamedValues& p) { return reference::weighted_sum(forward(p, x), weights); },
                         tolerance);
  EXPECT_EQ(check.ready, (std::vector<std::string>{"q.weight", "k.weight", "v.weight", "q.bias", "k.bias", "v.bias"}));
}

TEST_P(BasicLayers, LayerNormEqualsTheReference) {
  const auto [dtype, tolerance] = GetParam();
  LayerCheck check({4});
  LayerNorm layer(check.store, {.name = "norm", .width = 9, .epsilon = 1e-3});
  check.start();
  const Values x = random_values(4 * 9, 1);
  const Values weights = random_values(4 * 9, 2);
  const Tensor y = layer.forward(to_tensor(check.kept, x, 9, dtype), check.pass());
  LayerCheck::expect_close(to_values(y), ref::norm(check.parameters(), "norm", x, 1e-3), tolerance, 0.0, "y");
  const Tensor d_x = layer.backward(to_tensor(check.scratch, weights, 9, dtype), check.pass());
  const auto objective = [&](const NamedValues& p, const Values& input) {
    return reference::weighted_sum(ref::norm(p, "norm", input, 1e-3), weights);
  };
  LayerCheck::expect_close(
      to_values(d_x),
      LayerCheck::differences([&](const Values& input) { return objective(check.parameters(), input); }, x), tolerance,
      0.0, "d_x");
  check.expect_gradients([&](const NamedValues& p) { return objective(p, x); }, tolerance);
  check.expect_every_parameter_ready_once();
}

TEST_P(BasicLayers, EmbeddingsEqualTheReferenceWithDropout) {
  const auto [dtype, tolerance] = GetParam();
  LayerCheck check({4, 0, 3});
  Embeddings layer(check.store, {.vocabulary = 7,
                                 .positions = 5,
                                 .segments = 2,
                                 .width = 8,
                                 .epsilon = 1e-3,
                                 .dropout = 0.25,
                                 .salt = 77,
                                 .dtype = dtype});
  check.start();
  const Ids words{3, 6, 3, 0, 6, 6, 1};  // repeated ids: gradients add up
  const Ids positions{0, 1, 2, 3, 0, 1, 2};
  const Ids segments{0, 0, 1, 1, 0, 1, 1};
  const Values weights = random_values(7 * 8, 2);
  const auto forward = [&](const NamedValues& p) {
    Values sum = reference::lookup(p.at("bert.embeddings.word_embeddings.weight"), words, 8);
    sum = ref::add(sum, reference::lookup(p.at("bert.embeddings.position_embeddings.weight"), positions, 8));
    sum = ref::add(sum, reference::lookup(p.at("bert.embeddings.token_type_embeddings.weight"), segments, 8));
    return reference::dropout(ref::norm(p, "bert.embeddings.LayerNorm", sum, 1e-3), 8,
                              {.probability = 0.25F, .salt = 77, .row_keys = check.row_keys.data()});
  };
  const Tensor x = layer.forward(
      {.words = id_tensor(words), .positions = id_tensor(positions), .segments = id_tensor(segments)}, check.pass());
  LayerCheck::expect_close(to_values(x), forward(check.parameters()), tolerance, 0.0, "x");
  layer.backward(to_tensor(check.scratch, weights, 8, dtype), check.pass());
  check.expect_gradients([&](const NamedValues& p) { return reference::weighted_sum(forward(p), weights); }, tolerance);
  check.expect_every_parameter_ready_once();
  EXPECT_EQ(check.ready.back(), "bert.embeddings.word_embeddings.weight");
}

INSTANTIATE_TEST_SUITE_P(All, BasicLayers, ::testing::Values(kF32, kBf16), precision_name);

TEST(Embeddings, EvaluationDropsNothing) {
  LayerCheck check({3});
  Embeddings layer(check.store,
                   {.vocabulary = 7, .positions = 5, .segments = 2, .width = 8, .dropout = 0.9, .dtype = DType::F32});
  check.start();
  const TokenIds ids{
      .words = id_tensor({1, 2, 3}), .positions = id_tensor({0, 1, 2}), .segments = id_tensor({0, 0, 0})};
  for (const double value : to_values(layer.forward(ids, check.pass(Mode::Evaluate)))) EXPECT_NE(value, 0.0);
}

TEST(RowKeys, DependOnTheSequenceAndThePlaceInItAlone) {
  const std::vector<std::uint64_t> keys{11, 22};
  std::vector<std::uint64_t> together(5);
  fill_row_keys(std::vector<std::int32_t>{0, 2, 5}, keys, together);
  std::vector<std::uint64_t> alone(3);
  fill_row_keys(std::vector<std::int32_t>{0, 3}, std::vector<std::uint64_t>{22}, alone);
  EXPECT_EQ(std::vector<std::uint64_t>(together.begin() + 2, together.end()), alone);
  std::ranges::sort(together);
  EXPECT_EQ(std::ranges::adjacent_find(together), together.end());
}

}  // namespace
}  // namespace eflops::nn
