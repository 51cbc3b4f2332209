#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "batch.h"

namespace eflops::models {
namespace {

using ::testing::HasSubstr;

/// The message with which a batch changed by `change` is refused.
template <typename Change>
std::string refusal(const Change& change) {
  StructBert model(small_options(), 1);
  Batch batch({{.length = 5, .key = 1}, {.length = 4, .key = 2}}, small_options());
  change(batch);
  try {
    model.forward(batch.input(), Mode::Train);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(StructBertInput, ErrorsNameArrayIndexValueAndRange) {
  EXPECT_EQ(refusal([](Batch&) {}), "accepted");
  EXPECT_EQ(refusal([](Batch& b) { b.tokens[3] = 97; }), "batch: tokens[3] is 97; valid: 0 to 96");  // T23
  EXPECT_EQ(refusal([](Batch& b) { b.tokens[0] = -1; }), "batch: tokens[0] is -1; valid: 0 to 96");
  EXPECT_EQ(refusal([](Batch& b) { b.segments[1] = 2; }), "batch: segments[1] is 2; valid: 0 to 1");
  EXPECT_EQ(refusal([](Batch& b) { b.positions[8] = 128; }), "batch: positions[8] is 128; valid: 0 to 127");
  EXPECT_EQ(refusal([](Batch& b) { b.predicted_rows[0] = 9; }), "batch: predicted_rows[0] is 9; valid: 0 to 8");
  EXPECT_EQ(refusal([](Batch& b) { b.predicted_labels[0] = -2; }), "batch: predicted_labels[0] is -2; valid: 0 to 96");
  EXPECT_EQ(refusal([](Batch& b) { b.sentence_labels[1] = 3; }), "batch: sentence_labels[1] is 3; valid: 0 to 2");
}

TEST(StructBertInput, ArraysMustFitTogether) {
  EXPECT_EQ(refusal([](Batch& b) { b.segments.pop_back(); }), "batch: segments has 8 elements; expected 9");
  EXPECT_THAT(refusal([](Batch& b) { b.offsets.back() = 8; }), HasSubstr("offsets end at 8, but there are 9 tokens"));
  EXPECT_THAT(refusal([](Batch& b) { b.offsets[1] = 10; }), HasSubstr("offsets[2] is 9, less than the one before"));
  EXPECT_THAT(refusal([](Batch& b) { b.offsets.clear(); }), HasSubstr("offsets must begin with 0"));
  EXPECT_THAT(refusal([](Batch& b) { b.sample_keys.pop_back(); }), HasSubstr("sample_keys has 1 elements; expected 2"));
}

TEST(StructBertInput, ASequenceLongerThanThePositionsIsRefused) {  // T22
  StructBertOptions options = small_options();
  options.positions = 8;
  StructBert model(options, 1);
  const Batch batch({{.length = 9, .key = 1}}, small_options());
  try {
    model.forward(batch.input(), Mode::Evaluate);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "batch: sequence 0 has 9 tokens; the model has 8 positions");
  }
}

TEST(StructBertInput, AnEmptySequenceHasNoSentenceLabel) {
  StructBert model(small_options(), 1);
  const Batch batch({{.length = 0, .key = 1, .sentence_label = 1}}, small_options());
  EXPECT_THROW(model.forward(batch.input(), Mode::Evaluate), DataError);
}

TEST(StructBertOptions, InvalidValuesAreNamed) {
  StructBertOptions options;
  options.hidden = 250;
  try {
    options.validate("model");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "model.hidden is 250, which model.heads = 4 does not divide; 252 would do");
  }
  options = {};
  options.dropout = 1.0;
  EXPECT_THROW(options.validate(), ConfigError);
  options = {};
  options.vocabulary = 0;
  EXPECT_THROW(StructBert(options, 1), ConfigError);
}

TEST(StructBertOptions, NamedSizesHaveHeadsOf64) {
  StructBertOptions options;
  options.set_size(StructBertSize::Base);
  EXPECT_EQ(options.layers, 12);
  EXPECT_EQ(options.hidden, 768);
  EXPECT_EQ(options.heads, 12);
  EXPECT_EQ(options.intermediate, 3072);
  options.set_size(StructBertSize::Custom);
  EXPECT_EQ(options.hidden, 768);
}

TEST(StructBertOptions, EveryFieldIsAnOption) {
  StructBertOptions options;
  EXPECT_EQ(describe(OptionSet(options)).size(), 14U);
  assign(OptionSet(options), {.path = "precision", .values = {"bf16"}, .source = "test"});
  EXPECT_EQ(options.precision, Precision::BF16);
  EXPECT_THROW(assign(OptionSet(options), {.path = "layers", .values = {"0"}, .source = "test"}), ConfigError);
}

}  // namespace
}  // namespace eflops::models
