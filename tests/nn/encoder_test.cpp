#include <gtest/gtest.h>

#include "nn/encoder_layer.h"
#include "reference_layers.h"

namespace eflops::nn {
namespace {

namespace ref = reference_layers;

constexpr std::int64_t kWidth = 8;

/// A block of an encoder over packed sequences, one of them empty, with both kinds of dropout.
class EncoderBlocks : public ::testing::TestWithParam<Precision> {
 protected:
  EncoderLayerOptions options(double dropout) const {
    return {.name = "layer",
            .width = kWidth,
            .heads = 2,
            .intermediate = 12,
            .epsilon = 1e-12,
            .dropout = dropout,
            .attention_dropout = dropout,
            .salt = 500,
            .dtype = GetParam().dtype};
  }
  ref::Block block(double dropout, std::uint64_t residual_salt) const {
    return {.dropout = dropout, .attention_dropout = dropout, .salt = 500, .residual_salt = residual_salt};
  }

  /// forward/backward run the layer; `model` is the reference.
  void expect_parity(const std::function<Tensor(const Tensor&)>& forward,
                     const std::function<Tensor(const Tensor&)>& backward,
                     const std::function<Values(const NamedValues&, const Values&)>& model) {
    const auto [dtype, tolerance] = GetParam();
    const Values x = random_values(check_.offsets.back() * kWidth, 1);
    const Values weights = random_values(check_.offsets.back() * kWidth, 2);
    const Tensor y = forward(to_tensor(check_.kept, x, kWidth, dtype));
    LayerCheck::expect_close(to_values(y), model(check_.parameters(), x), tolerance, 0.0, "y");
    const Tensor d_x = backward(to_tensor(check_.scratch, weights, kWidth, dtype));
    const auto objective = [&](const NamedValues& p, const Values& input) {
      return reference::weighted_sum(model(p, input), weights);
    };
    LayerCheck::expect_close(
        to_values(d_x),
        LayerCheck::differences([&](const Values& input) { return objective(check_.parameters(), input); }, x),
        tolerance, 0.0, "d_x");
    // A key's bias has a zero gradient: softmax ignores it. What rounding leaves is held to the size of the others.
    check_.expect_gradients([&](const NamedValues& p) { return objective(p, x); }, tolerance, 1.0);
    check_.expect_every_parameter_ready_once();
  }

  LayerCheck check_{{5, 0, 1, 3}};
};

TEST_P(EncoderBlocks, SelfAttentionEqualsTheReference) {
  SelfAttention layer(check_.store, options(0.25));
  check_.start();
  expect_parity(
      [&](const Tensor& x) {
        const Tensor y = check_.kept.allocate_rows(x.shape(), x.dtype());
        layer.forward(x, y, check_.pass());
        return y;
      },
      [&](const Tensor& d_y) {
        layer.backward(d_y, check_.pass());
        return d_y;
      },
      [&](const NamedValues& p, const Values& x) {
        return ref::self_attention(p, block(0.25, 500 + kSaltsPerLayer - 2), x, check_);
      });
}

TEST_P(EncoderBlocks, FeedForwardEqualsTheReference) {
  FeedForward layer(check_.store, options(0.25));
  check_.start();
  expect_parity(
      [&](const Tensor& x) {
        const Tensor y = check_.kept.allocate_rows(x.shape(), x.dtype());
        layer.forward(x, y, check_.pass());
        return y;
      },
      [&](const Tensor& d_y) {
        layer.backward(d_y, check_.pass());
        return d_y;
      },
      [&](const NamedValues& p, const Values& x) {
        return ref::feed_forward(p, block(0.25, 500 + kSaltsPerLayer - 1), x, check_);
      });
}

TEST_P(EncoderBlocks, AWholeLayerWithoutDropoutEqualsTheReference) {
  EncoderLayer layer(check_.store, options(0.0));
  check_.start();
  expect_parity([&](const Tensor& x) { return layer.forward(x, check_.pass()); },
                [&](const Tensor& d_y) { return layer.backward(d_y, check_.pass()); },
                [&](const NamedValues& p, const Values& x) {
                  return ref::feed_forward(p, block(0.0, 0), ref::self_attention(p, block(0.0, 0), x, check_), check_);
                });
}

TEST_P(EncoderBlocks, EvaluationGivesWhatTrainingWithoutDropoutGives) {
  EncoderLayer layer(check_.store, options(0.0));
  check_.start();
  const Values x = random_values(check_.offsets.back() * kWidth, 1);
  const Values trained = to_values(layer.forward(to_tensor(check_.kept, x, kWidth, GetParam().dtype), check_.pass()));
  const Tensor input = to_tensor(check_.scratch, x, kWidth, GetParam().dtype);
  const std::int64_t before = check_.scratch.used_bytes();
  const Tensor output = layer.forward(input, check_.pass(Mode::Evaluate));
  EXPECT_EQ(to_values(output), trained);
  EXPECT_EQ(output.raw(), input.raw());
  EXPECT_EQ(check_.scratch.used_bytes(), before);
}

INSTANTIATE_TEST_SUITE_P(All, EncoderBlocks, ::testing::Values(kF32, kBf16), precision_name);

}  // namespace
}  // namespace eflops::nn
