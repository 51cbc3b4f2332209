#include "models/structbert_options.h"

#include "base/error.h"

namespace eflops::models {

void StructBertOptions::visit_fields(OptionVisitor& v) {
  v("layers", layers, "encoder layers", {.min = 1, .aliases = {"num_hidden_layers"}});
  v("hidden", hidden, "width of the hidden states, a multiple of heads", {.min = 1, .aliases = {"hidden_size"}});
  v("heads", heads, "attention heads", {.min = 1, .aliases = {"num_attention_heads"}});
  v("intermediate", intermediate, "width inside the feed-forward block", {.min = 1, .aliases = {"intermediate_size"}});
  v("vocabulary", vocabulary, "rows of the word embeddings", {.unit = "tokens", .min = 1, .aliases = {"vocab_size"}});
  v("positions", positions, "longest sequence", {.unit = "tokens", .min = 1, .aliases = {"max_position_embeddings"}});
  v("segments", segments, "segment kinds", {.min = 1, .aliases = {"type_vocab_size"}});
  v("dropout", dropout, "dropout of embeddings and residual branches",
    {.min = 0, .max = 0.99, .aliases = {"hidden_dropout_prob"}});
  v("attention_dropout", attention_dropout, "dropout of attention probabilities",
    {.min = 0, .max = 0.99, .aliases = {"attention_probs_dropout_prob"}});
  v("gelu", gelu, "erf as in AliceMind and Hugging Face, tanh as in Google BERT");
  v("layer_norm_epsilon", layer_norm_epsilon, "added to the variance", {.min = 0, .aliases = {"layer_norm_eps"}});
  v("initializer_range", initializer_range, "standard deviation of the truncated normal initialisation", {.min = 0});
  v("sentence_classes", sentence_classes, "classes of the sentence objective: 3 for StructBERT, 2 for BERT",
    {.min = 2});
  v("precision", precision, "of activations and matrix products: f32 or bf16 (master weights stay f32)");
}

void StructBertOptions::set_size(StructBertSize size) {
  const auto set = [this](std::int64_t depth, std::int64_t width) {
    layers = depth;
    hidden = width;
    heads = width / 64;
    intermediate = 4 * width;
  };
  switch (size) {
    case StructBertSize::Custom:
      return;
    case StructBertSize::Tiny:
      return set(2, 128);
    case StructBertSize::Mini:
      return set(4, 256);
    case StructBertSize::Small:
      return set(4, 512);
    case StructBertSize::Base:
      return set(12, 768);
    case StructBertSize::Large:
      return set(24, 1024);
  }
}

void StructBertOptions::validate(std::string_view key) const {
  const auto at_least = [&](std::string_view field, std::int64_t value, std::int64_t least) {
    if (value < least) throw ConfigError("{}.{} is {}; at least {} is needed", key, field, value, least);
  };
  at_least("layers", layers, 1);
  at_least("hidden", hidden, 1);
  at_least("heads", heads, 1);
  at_least("intermediate", intermediate, 1);
  at_least("vocabulary", vocabulary, 1);
  at_least("positions", positions, 1);
  at_least("segments", segments, 1);
  at_least("sentence_classes", sentence_classes, 2);
  if (hidden % heads != 0)
    throw ConfigError("{0}.hidden is {1}, which {0}.heads = {2} does not divide; {3} would do", key, hidden, heads,
                      (hidden / heads + 1) * heads);
  const auto probability = [&](std::string_view field, double value) {
    if (!(value >= 0.0 && value < 1.0)) throw ConfigError("{}.{} is {}; valid: 0 <= p < 1", key, field, value);
  };
  probability("dropout", dropout);
  probability("attention_dropout", attention_dropout);
  const auto not_negative = [&](std::string_view field, double value) {
    if (!(value >= 0.0)) throw ConfigError("{}.{} is {}; valid: 0 or more", key, field, value);
  };
  not_negative("layer_norm_epsilon", layer_norm_epsilon);
  not_negative("initializer_range", initializer_range);
}

}  // namespace eflops::models
