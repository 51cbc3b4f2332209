#include "programs/pretrain_init.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "pretrain_testing.h"

namespace eflops::programs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PretrainInit : public PretrainTest {
 protected:
  /// A checkpoint of two steps, trained once.
  static const Trained& source() {
    static const Trained trained = run(options(2), "source");
    return trained;
  }
  static std::string copy_of_source(const std::string& name) {
    fs::copy(source().result.checkpoint, path(name), fs::copy_options::recursive);
    return path(name).string();
  }
  /// Options that say nothing of the model.
  static PretrainOptions starting(const std::string& folder) {
    PretrainOptions all = options(1);
    all.model = {};
    all.model_size = models::StructBertSize::Mini;
    all.init_from = folder;
    return all;
  }
  template <typename Refusal>
  static std::string refusal(const PretrainOptions& options, const OptionSources& sources = {}) {
    try {
      prepare_pretrain(options, sources);
    } catch (const Refusal& error) {
      return error.what();
    }
    return "accepted";
  }
  static void replace_in(const fs::path& file, const std::string& what, const std::string& with) {
    std::string text = read_file(file);
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    write_file_atomically(file, text.replace(at, what.size(), with));
  }
};

TEST_F(PretrainInit, TakesArchitectureAndEveryWeightOfItsOwnCheckpoint) {
  const PretrainSetup setup = prepare_pretrain(starting(source().result.checkpoint.string()), {});
  EXPECT_EQ(setup.model.layers, 2);
  EXPECT_EQ(setup.model.hidden, 16);
  EXPECT_EQ(setup.model.positions, 32);
  EXPECT_EQ(setup.options.model.intermediate, 32);
  EXPECT_EQ(setup.options.model_size, models::StructBertSize::Custom);
  EXPECT_THAT(setup.sources.at("model.layers"), HasSubstr("config.json"));
  models::StructBert model(setup.model, 7);
  const std::vector<records::Fact> facts = load_init(setup, model.parameters());
  EXPECT_EQ(facts[1], records::Fact("init_made_anew", std::string()));
  const std::span<float> values = model.parameters().values();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), source().weights);
}

// Without dropout the first loss is that of the stored weights on the first batch; sums differ in order at most.
TEST_F(PretrainInit, TheFirstLossIsThatOfTheStoredWeights) {
  PretrainOptions next = starting(source().result.checkpoint.string());
  next.model.dropout = 0;
  next.model.attention_dropout = 0;
  next.seed = 5;
  const PretrainSetup setup = prepare_pretrain(next, {});
  models::StructBert model(setup.model, 99);
  std::ranges::copy(source().weights, model.parameters().values().begin());
  model.parameters().refresh();
  data::PretrainStream stream(setup.text->train());
  double tokens = 0, sentences = 0, token_count = 0, sentence_count = 0;
  for (const data::PackedTextBatch& shard : stream.next({8, 2, 0, 2}).shards) {
    const models::StructBertLoss loss = model.forward(model_input(shard), nn::Mode::Evaluate);
    tokens += loss.masked_sum;
    sentences += loss.sentence_sum;
    token_count += static_cast<double>(shard.predicted_labels.size());
    sentence_count += static_cast<double>(shard.sentence_labels.size());
  }
  const double expected = tokens / token_count + sentences / sentence_count;
  EXPECT_NEAR(run(next, setup, "first-loss").result.last.loss, expected, 1e-6 * expected);
}

TEST_F(PretrainInit, TheResolvedOptionsGiveTheSameRunAgain) {
  const PretrainSetup first = prepare_pretrain(starting(source().result.checkpoint.string()), {});
  PretrainOptions again = first.options;
  const OptionSources file{{"model_size", "config.yaml:1"},       {"model.layers", "config.yaml:2"},
                           {"model.vocabulary", "config.yaml:3"}, {"model.gelu", "config.yaml:4"},
                           {"init_checksum", "config.yaml:5"},    {"model.layer_norm_epsilon", "config.yaml:6"}};
  PretrainOptions second = prepare_pretrain(again, file).options;
  EXPECT_EQ(config_hash(OptionSet(second)), config_hash(OptionSet(again)));
}

TEST_F(PretrainInit, AGivenOptionThatDisagreesIsRefusedWithBothValuesAndPlaces) {
  const std::string folder = source().result.checkpoint.string();
  PretrainOptions given = starting(folder);
  given.model.layers = 3;
  EXPECT_THAT(refusal<ConfigError>(given, {{"model.layers", "flag --layers"}}),
              AllOf(HasSubstr("model.layers is 3 (flag --layers)"), HasSubstr("num_hidden_layers of " + folder),
                    HasSubstr("config.json is 2")));
  given = starting(folder);
  given.model.gelu = models::Gelu::Tanh;
  EXPECT_THAT(refusal<ConfigError>(given, {{"model.gelu", "a.yaml:3"}}),
              AllOf(HasSubstr("model.gelu is tanh (a.yaml:3)"), HasSubstr("hidden_act"), HasSubstr("is erf")));
  given = starting(folder);
  given.model_size = models::StructBertSize::Tiny;
  EXPECT_THAT(refusal<ConfigError>(given, {{"model_size", "flag --size"}}),
              HasSubstr("model.hidden is 128 (model_size tiny, flag --size), but hidden_size"));
  given = starting(folder);
  given.model.vocabulary = 24;
  EXPECT_THAT(refusal<ConfigError>(given, {{"model.vocabulary", "flag"}}), HasSubstr("the text's vocabulary has 16"));
}

TEST_F(PretrainInit, AnEpsilonOfTheDirectoryIsTakenOver) {
  const std::string folder = copy_of_source("epsilon");
  replace_in(folder + "/config.json", "\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": 1e-5");
  replace_in(folder + "/config.json", "\"gelu\"", "\"gelu_new\"");
  const PretrainSetup setup = prepare_pretrain(starting(folder), {});
  EXPECT_EQ(setup.model.layer_norm_epsilon, 1e-5);
  EXPECT_EQ(setup.model.gelu, models::Gelu::Tanh);
}

// 16 pieces; "bread" is one of them.
TEST_F(PretrainInit, AnotherVocabularyIsRefusedWithThePiece) {
  const std::string folder = copy_of_source("vocabulary");
  replace_in(folder + "/vocab.txt", "bread", "brexd");
  EXPECT_THAT(refusal<DataError>(starting(folder)), HasSubstr("its piece 9 is 'brexd', the text's 'bread'"));
  replace_in(folder + "/vocab.txt", "brexd\n", "bread\nextra\n");
  EXPECT_THAT(refusal<DataError>(starting(folder)), HasSubstr("its vocabulary has 17 pieces, the text's 16"));
  fs::remove(folder + "/vocab.txt");
  EXPECT_NO_THROW(prepare_pretrain(starting(folder), {}));
}

TEST_F(PretrainInit, AnArmWithAnotherSentenceTaskMakesItsHeadAnew) {
  PretrainOptions bert = starting(source().result.checkpoint.string());
  bert.objective.arm = data::Arm::Bert;
  const PretrainSetup setup = prepare_pretrain(bert, {});
  models::StructBert model(setup.model, 1);
  EXPECT_EQ(load_init(setup, model.parameters())[1],
            records::Fact("init_made_anew", std::string("cls.seq_relationship.weight,cls.seq_relationship.bias")));
  PretrainOptions other_order = starting(source().result.checkpoint.string());
  other_order.objective.sentence_labels = data::SentenceLabels::NextPreviousRandom;
  const PretrainSetup reordered = prepare_pretrain(other_order, {});
  models::StructBert three(reordered.model, 1);
  EXPECT_EQ(load_init(reordered, three.parameters())[1],
            records::Fact("init_made_anew", std::string("cls.seq_relationship.weight,cls.seq_relationship.bias")));
}

TEST_F(PretrainInit, AChecksumThatDiffersIsRefused) {
  PretrainOptions pinned = starting(source().result.checkpoint.string());
  pinned.init_checksum = "0123456789abcdef";
  EXPECT_THAT(refusal<ConfigError>(pinned, {{"init_checksum", "run.yaml:5"}}),
              HasSubstr("init_checksum is 0123456789abcdef (run.yaml:5), but that of the weights in"));
  pinned.init_from = "";
  EXPECT_THAT(refusal<ConfigError>(pinned), HasSubstr("init_from names no directory"));
}

TEST_F(PretrainInit, ARunFolderIsPointedToItsCheckpoint) {
  const std::string run = source().result.checkpoint.parent_path().string();
  EXPECT_THAT(refusal<ConfigError>(starting(run)), HasSubstr("such as " + run + "/checkpoint-2"));
}

// A run whose directory is gone: its own config.yaml says what the model is, its checkpoint has the weights.
TEST_F(PretrainInit, AResumedRunDoesWithoutTheDirectory) {
  const std::string folder = copy_of_source("moved");
  PretrainSetup first = prepare_pretrain(starting(folder), {});
  run(starting(folder), first, "continued");
  write_file_atomically(path("continued") / "config.yaml",
                        "program: eflops-pretrain\n" + dump_yaml(OptionSet(first.options), {}));
  fs::remove_all(folder);
  EXPECT_THAT(refusal<ConfigError>(starting(folder)), HasSubstr("no folder with a config.json"));
  PretrainSetup second = prepare_pretrain(starting(folder), {}, path("continued"));
  EXPECT_EQ(second.init, nullptr);
  EXPECT_EQ(config_hash(OptionSet(second.options)), config_hash(OptionSet(first.options)));
}

}  // namespace
}  // namespace eflops::programs
