#include "models/structbert_cost.h"

#include <gtest/gtest.h>

#include "batch.h"

namespace eflops::models {
namespace {

TEST(StructBertCost, OneTokenThroughAToyModelIsCountedByHand) {
  StructBertOptions options;
  options.layers = 2;
  options.hidden = 4;
  options.heads = 2;
  options.intermediate = 8;
  options.vocabulary = 10;
  options.sentence_classes = 3;
  // A layer: q, k, v, output 4·16 weights and 2·32 of the feed-forward, 2 FLOP each = 256; scores and context 2·2·4
  // = 16. Heads: dense 2·16 and decoder 2·40; pooler 2·16 and classes 2·12.
  const BatchShape one{.sequences = 1, .tokens = 1, .token_pairs = 1, .predictions = 1};
  EXPECT_EQ(forward_flops(options, one), 2 * (256 + 16) + (32 + 80) + (32 + 24));
  EXPECT_EQ(training_flops(options, one), 3 * forward_flops(options, one));
}

TEST(StructBertCost, TheMemoryEstimateMeetsWhatAStepUses) {
  StructBertOptions options = small_options();
  options.hidden = 128;
  options.intermediate = 512;
  options.vocabulary = 3000;
  Batch::Sequence sequence{.length = 100, .key = 1, .sentence_label = 1};
  const Batch batch(std::vector<Batch::Sequence>(12, sequence), options);
  Bound bound(options);
  bound.model.forward_backward(batch.input(), 1.0F, 1.0F);
  const BatchShape shape{
      .sequences = 12, .tokens = 1200, .token_pairs = 12 * 100 * 100, .predictions = std::ssize(batch.predicted_rows)};
  const MemoryEstimate estimate = estimate_memory(options, shape);
  const auto used = static_cast<double>(bound.model.peak_activation_bytes());
  EXPECT_NEAR(static_cast<double>(estimate.activations + estimate.scratch), used, 0.1 * used);
  EXPECT_EQ(estimate.parameters, 4 * bound.model.parameters().parameter_count());
}

}  // namespace
}  // namespace eflops::models
