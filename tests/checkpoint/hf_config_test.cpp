#include "checkpoint/hf_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "checkpoint_testing.h"

namespace eflops::checkpoint {
namespace {

using testing::data_error;
using testing::write_raw;

TEST(BertConfigFile, IsReadBackAsWritten) {
  const BertConfig written{.architecture = "BertForMaskedLM",
                           .vocab_size = 101,
                           .hidden_size = 24,
                           .num_hidden_layers = 3,
                           .num_attention_heads = 4,
                           .intermediate_size = 48,
                           .max_position_embeddings = 64,
                           .type_vocab_size = 1,
                           .pad_token_id = 5,
                           .hidden_act = Activation::GeluNew,
                           .hidden_dropout_prob = 0.2,
                           .attention_probs_dropout_prob = 0.3,
                           .initializer_range = 0.01,
                           .layer_norm_eps = 1e-3,
                           .eflops = {{"objective", "structbert"}}};
  const TemporaryFolder folder;
  write_bert_config(folder.path(), written);
  const BertConfig read = read_bert_config(folder.path());
  EXPECT_NO_THROW(require_like(read, written, Likeness::SameRun, "x"));
  EXPECT_EQ(read.pad_token_id, 5);
  EXPECT_EQ(read.hidden_dropout_prob, 0.2);
  EXPECT_EQ(read.attention_probs_dropout_prob, 0.3);
  EXPECT_EQ(read.initializer_range, 0.01);
  EXPECT_EQ(read.eflops, written.eflops);
}

TEST(BertConfigFile, HasTheKeysOfHuggingFace) {
  const TemporaryFolder folder;
  write_bert_config(folder.path(), {});
  EXPECT_EQ(parse_json(read_file(folder.path() / "config.json"), "f"), Json::parse(R"({
    "architectures": ["BertForPreTraining"], "model_type": "bert", "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768, "initializer_range": 0.02,
    "intermediate_size": 3072, "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "num_attention_heads": 12,
    "num_hidden_layers": 12, "pad_token_id": 0, "position_embedding_type": "absolute", "torch_dtype": "float32",
    "type_vocab_size": 2, "vocab_size": 30522})"));
}

/// What an old Google directory holds: sizes alone, and a key nobody here knows.
Json old_config() {
  return Json::parse(R"({"vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "max_position_embeddings": 512, "type_vocab_size": 2, "attention_type": "self"})");
}

TEST(BertConfigFile, HasDefaultsForAllButSizes) {
  const TemporaryFolder folder;
  write_raw(folder.path() / "config.json", old_config().dump());
  EXPECT_NO_THROW(require_like(read_bert_config(folder.path()), BertConfig{}, Likeness::SameRun, "x"));
}

/// The refusal of old_config() with one change, without the file's name.
std::string refusal(const std::function<void(Json&)>& change) {
  const TemporaryFolder folder;
  Json json = old_config();
  change(json);
  write_raw(folder.path() / "config.json", json.dump());
  const std::string message = data_error([&] { read_bert_config(folder.path()); });
  const std::string prefix = (folder.path() / "config.json").string() + ": ";
  EXPECT_TRUE(message.starts_with(prefix)) << message;
  return message.substr(std::min(prefix.size(), message.size()));
}

TEST(BertConfigFile, RefusesOtherModels) {
  EXPECT_EQ(refusal([](Json& j) { j["model_type"] = "roberta"; }), R"(model_type is "roberta", expected bert)");
  EXPECT_EQ(refusal([](Json& j) { j["position_embedding_type"] = "relative_key"; }),
            R"(position_embedding_type is "relative_key", expected absolute)");
  EXPECT_EQ(refusal([](Json& j) { j["is_decoder"] = true; }), R"(is_decoder is true, expected false)");
  EXPECT_EQ(refusal([](Json& j) { j["hidden_act"] = "relu"; }), R"(hidden_act is "relu", expected gelu or gelu_new)");
}

TEST(BertConfigFile, RefusesWrongSizes) {
  EXPECT_EQ(refusal([](Json& j) { j.erase("hidden_size"); }), "hidden_size is missing, expected an integer from 1");
  EXPECT_EQ(refusal([](Json& j) { j["hidden_size"] = 0; }), R"(hidden_size is 0, expected an integer from 1)");
  EXPECT_EQ(refusal([](Json& j) { j["vocab_size"] = 1.5; }), R"(vocab_size is 1.5, expected an integer from 1)");
  EXPECT_EQ(refusal([](Json& j) { j["vocab_size"] = "9"; }), R"(vocab_size is "9", expected an integer from 1)");
  EXPECT_EQ(refusal([](Json& j) { j["vocab_size"] = 18446744073709551615U; }),
            R"(vocab_size is 18446744073709551615, expected an integer from 1)");
  EXPECT_EQ(refusal([](Json& j) { j["num_attention_heads"] = 7; }),
            R"(hidden_size is 768, expected a multiple of num_attention_heads 7)");
  EXPECT_EQ(refusal([](Json& j) { j["hidden_dropout_prob"] = 2; }),
            R"(hidden_dropout_prob is 2, expected a number from 0 to 1)");
  EXPECT_EQ(refusal([](Json& j) { j["architectures"] = Json::array(); }),
            R"(architectures is [], expected a list of text)");
  EXPECT_EQ(refusal([](Json& j) { j["eflops"] = {{"a", 1}}; }), R"(eflops is {"a":1}, expected an object of text)");
}

TEST(BertConfigFile, RefusesWhatIsNoConfig) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "config.json").string();
  EXPECT_EQ(data_error([&] { read_bert_config(folder.path()); }), file + ": cannot open: No such file or directory");
  write_raw(file, "[1]");
  EXPECT_EQ(data_error([&] { read_bert_config(folder.path()); }), file + ": expected an object");
  write_raw(file, R"({"hidden_size": 1, "hidden_size": 2})");
  EXPECT_EQ(data_error([&] { read_bert_config(folder.path()); }),
            file + R"(: key "hidden_size" stands twice in one object)");
}

TEST(RequireLike, NamesBothValuesOfTheFirstDifference) {
  const BertConfig base;
  BertConfig other;
  other.hidden_size = 256;
  EXPECT_EQ(data_error([&] { require_like(other, base, Likeness::SameRun, "dir"); }),
            "dir: hidden_size is 256, this run has 768");
  other = {.architecture = "BertForMaskedLM"};
  EXPECT_EQ(data_error([&] { require_like(other, base, Likeness::SameRun, "dir"); }),
            "dir: architecture is BertForMaskedLM, this run has BertForPreTraining");
  EXPECT_NO_THROW(require_like(other, base, Likeness::SameBody, "dir"));
  other = {.hidden_act = Activation::GeluNew};
  EXPECT_EQ(data_error([&] { require_like(other, base, Likeness::SameBody, "dir"); }),
            "dir: hidden_act is gelu_new, this run has gelu");
  other = {.layer_norm_eps = 1e-5};
  EXPECT_EQ(data_error([&] { require_like(other, base, Likeness::SameRun, "dir"); }),
            "dir: layer_norm_eps is 1e-05, this run has 1e-12");
}

// T23.
TEST(Vocabulary, MayBePaddedInTheEmbedding) {
  for (const std::int64_t rows : {30522, 30528, 30592}) EXPECT_NO_THROW(check_vocabulary_fits(rows, 30522, "d"));
  EXPECT_NO_THROW(require_like({.vocab_size = 30528}, {.vocab_size = 30522}, Likeness::SameBody, "d"));
  EXPECT_EQ(data_error([] { require_like({.vocab_size = 30528}, {.vocab_size = 30522}, Likeness::SameRun, "d"); }),
            "d: vocab_size is 30528, this run has 30522");
}

TEST(Vocabulary, LargerThanTheEmbeddingIsRefusedWithBothSizes) {
  EXPECT_EQ(data_error([] { check_vocabulary_fits(30522, 30523, "d"); }),
            "d: the vocabulary has 30523 entries, the embedding only 30522 rows");
  const std::string not_padding = ", and the difference is not padding";
  EXPECT_EQ(data_error([] { check_vocabulary_fits(30524, 30522, "d"); }),
            "d: the embedding has 30524 rows, the vocabulary 30522 entries" + not_padding);
  EXPECT_EQ(data_error([] { check_vocabulary_fits(30656, 30522, "d"); }),
            "d: the embedding has 30656 rows, the vocabulary 30522 entries" + not_padding);
}

TEST(TokenizerConfigFile, IsReadBackAsWritten) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_tokenizer_config(folder.path()), std::nullopt);
  write_tokenizer_config(folder.path(), {.do_lower_case = false,
                                         .tokenize_chinese_chars = false,
                                         .strip_accents = true,
                                         .model_max_length = 128,
                                         .eflops = {{"word_limit", "200"}}});
  const std::optional<TokenizerConfig> read = read_tokenizer_config(folder.path());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->tokenizer_class, "BertTokenizer");
  EXPECT_FALSE(read->do_lower_case);
  EXPECT_FALSE(read->tokenize_chinese_chars);
  EXPECT_EQ(read->strip_accents, true);
  EXPECT_EQ(read->model_max_length, 128);
  EXPECT_EQ(read->eflops.at("word_limit"), "200");
}

TEST(TokenizerConfigFile, TakesNullsAndNoLimitAsHuggingFaceWritesThem) {
  const TemporaryFolder folder;
  write_raw(folder.path() / "tokenizer_config.json",
            R"({"do_lower_case": true, "strip_accents": null, "model_max_length": 1000000000000000019884624838656})");
  const std::optional<TokenizerConfig> read = read_tokenizer_config(folder.path());
  EXPECT_EQ(read->strip_accents, std::nullopt);
  EXPECT_EQ(read->model_max_length, INT64_MAX);
}

TEST(TokenizerConfigFile, RefusesAWrongType) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "tokenizer_config.json").string();
  write_raw(file, R"({"do_lower_case": "yes"})");
  EXPECT_EQ(data_error([&] { read_tokenizer_config(folder.path()); }),
            file + R"(: do_lower_case is "yes", expected true or false)");
}

TEST(CopyInto, CopiesBytes) {
  const TemporaryFolder folder;
  write_raw(folder.path() / "source.txt", std::string("[PAD]\n\0x", 8));
  copy_into(folder.path(), folder.path() / "source.txt", "vocab.txt");
  EXPECT_EQ(read_file(folder.path() / "vocab.txt"), std::string("[PAD]\n\0x", 8));
  EXPECT_THROW(copy_into(folder.path(), folder.path() / "none", "vocab.txt"), DataError);
}

}  // namespace
}  // namespace eflops::checkpoint
