#include "programs/pretrain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "pretrain_testing.h"

namespace eflops::programs {
namespace {

using ::testing::HasSubstr;

class Pretrain : public PretrainTest {};

// T32: 20 steps against 7 + 6 + 7 in fresh processes' stead, with dropout; 12 documents of 6 sentences give fewer
// instances than 20 steps of 8 take, so epochs end inside.
TEST_F(Pretrain, AResumedRunHasTheBitsOfAnUninterruptedOne) {
  const Trained whole = run(options(20), "whole");
  const PretrainSetup setup = prepare_pretrain(options(20), {});
  ASSERT_LT(setup.text->train().plan(0).size(), 20 * 8);
  Trained parts;
  for (const std::int64_t steps : {7, 13, 20}) parts = run(options(steps), "parts");
  EXPECT_EQ(parts.weights, whole.weights);
  EXPECT_EQ(parts.result.last.loss, whole.result.last.loss);
}

TEST_F(Pretrain, DropoutIsOnInThatTest) {
  PretrainOptions none = options(3);
  none.model.dropout = 0;
  none.model.attention_dropout = 0;
  EXPECT_NE(run(none, "no-dropout").weights, run(options(3), "dropout").weights);
}

// The same weights and batches under another seed of dropout.
TEST_F(Pretrain, DropoutFollowsTheSeed) {
  const PretrainOptions all = options(2);
  PretrainSetup other = prepare_pretrain(all, {});
  ++other.task.seed;
  EXPECT_NE(run(all, other, "dropout-seed").weights, run(all, "seed").weights);
  PretrainOptions none = all;
  none.model.dropout = 0;
  none.model.attention_dropout = 0;
  PretrainSetup same = prepare_pretrain(none, {});
  ++same.task.seed;
  EXPECT_EQ(run(none, same, "no-dropout-seed").weights, run(none, "no-dropout-2").weights);
}

// T29: the loss of a global batch is its sum over all predictions by their count, however it is cut. Dropout is keyed
// by sample, so it is the same in both; f32 sums differ in order only.
TEST_F(Pretrain, MicroShardsGiveTheLossAndTheStepOfTheWholeBatch) {
  PretrainOptions one = options(1);
  one.batch.shards = 1;
  PretrainOptions four = options(1);
  four.batch.shards = 4;
  const Trained whole = run(one, "one");
  const Trained cut = run(four, "four");
  EXPECT_NEAR(cut.result.last.loss, whole.result.last.loss, 1e-5 * whole.result.last.loss);
  ASSERT_EQ(cut.weights.size(), whole.weights.size());
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < cut.weights.size(); ++i) {
    difference += std::pow(cut.weights[i] - whole.weights[i], 2);
    norm += std::pow(whole.weights[i], 2);
  }
  EXPECT_LT(std::sqrt(difference), 1e-4 * std::sqrt(norm));
}

TEST_F(Pretrain, TheSameSeedGivesTheSameBitsAndAnotherDoesNot) {
  const Trained first = run(options(3), "seed-a");
  EXPECT_EQ(run(options(3), "seed-b").weights, first.weights);
  PretrainOptions other = options(3);
  other.seed = 2;
  EXPECT_NE(run(other, "seed-c").weights, first.weights);
}

// 300 steps on ten words: masked tokens cannot be known beyond their frequency, but shuffled ones need nothing but
// copying, and the loss must fall below that of uniform guessing, ln 16 = 2.77.
TEST_F(Pretrain, TheLossFalls) {
  PretrainOptions longer = options(60);
  longer.schedule.total_steps = 60;
  const Trained trained = run(longer, "falls");
  ASSERT_TRUE(trained.result.evaluation.has_value());
  EXPECT_LT(trained.result.evaluation->score, 14.0);  // perplexity; uniform over 16 pieces is 16
}

TEST_F(Pretrain, ACheckpointIsAHuggingFaceDirectory) {
  const Trained trained = run(options(2), "directory");
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"})
    EXPECT_TRUE(fs::exists(trained.result.checkpoint / name)) << name;
  const checkpoint::WeightFiles weights(trained.result.checkpoint);
  EXPECT_NE(weights.find("bert.encoder.layer.1.attention.self.query.weight"), nullptr);
  EXPECT_NE(weights.find("cls.predictions.transform.dense.weight"), nullptr);
  // Three classes: not Hugging Face's head, so it lies under trainer/.
  EXPECT_EQ(weights.find("cls.seq_relationship.weight"), nullptr);
  EXPECT_TRUE(fs::exists(trained.result.checkpoint / "trainer" / "heads.safetensors"));
}

TEST_F(Pretrain, ACheckpointOfAnotherArchitectureIsRefused) {
  run(options(2), "architecture");
  PretrainOptions wider = options(4);
  wider.model.hidden = 32;
  EXPECT_THROW(run(wider, "architecture"), DataError);
}

// T40: within an epoch every sample is seen once.
TEST_F(Pretrain, AnEpochCoversEverySampleOnce) {
  const PretrainSetup setup = prepare_pretrain(options(20), {});
  const data::PretrainSampler& sampler = setup.text->train();
  const std::int64_t size = sampler.plan(0).size();
  data::PretrainStream stream(sampler);
  std::multiset<std::uint64_t> seen;
  std::multiset<std::uint64_t> next_epoch;
  while (static_cast<std::int64_t>(seen.size()) < size) {
    const data::PretrainBatch batch = stream.next({8, 2, 0, 2});
    for (const data::PackedTextBatch& shard : batch.shards)
      for (const std::uint64_t key : shard.sample_keys)
        (static_cast<std::int64_t>(seen.size()) < size ? seen : next_epoch).insert(key);
  }
  EXPECT_EQ(std::set<std::uint64_t>(seen.begin(), seen.end()).size(), static_cast<std::size_t>(size));
  for (const std::uint64_t key : next_epoch) EXPECT_EQ(seen.count(key), 0U);
}

struct BadOptions {
  const char* name;
  void (*change)(PretrainOptions&);
  const char* message;
};

class Refused : public Pretrain, public ::testing::WithParamInterface<BadOptions> {};

TEST_P(Refused, WithTheKeyAndWhatWouldBeValid) {
  PretrainOptions bad = options(2);
  GetParam().change(bad);
  try {
    prepare_pretrain(bad, {});
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, Refused,
    ::testing::Values(
        BadOptions{"NoText", [](PretrainOptions& o) { o.data.train.clear(); }, "data.train is empty"},
        BadOptions{"SameText", [](PretrainOptions& o) { o.data.held_out = o.data.train; }, "are the same text"},
        BadOptions{"ShardsNoPower", [](PretrainOptions& o) { o.batch.shards = 3; },
                   "batch.shards is 3: not a power of two"},
        BadOptions{"ShardsTooMany", [](PretrainOptions& o) { o.batch.shards = 16; }, "would be empty"},
        BadOptions{"TooLong", [](PretrainOptions& o) { o.objective.max_seq_length = 64; }, "model.positions 32"},
        BadOptions{"Heads", [](PretrainOptions& o) { o.model.heads = 3; }, "model.heads"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Pretrain, ANamedSizeAndASizeOfOnesOwnContradict) {
  PretrainOptions both = options(2);
  both.model_size = models::StructBertSize::Tiny;
  EXPECT_THROW(prepare_pretrain(both, {{"model.layers", "flag --layers"}}), ConfigError);
  EXPECT_EQ(prepare_pretrain(both, {}).model.hidden, 128);
}

// What a run writes down must give the same model again: a named size as its numbers, and the text's vocabulary.
TEST_F(Pretrain, ResolvedOptionsSayTheModelWithoutANameOrTheText) {
  PretrainOptions named = options(2);
  named.model_size = models::StructBertSize::Tiny;
  const PretrainSetup setup = prepare_pretrain(named, {{"model_size", "flag --size"}});
  EXPECT_EQ(setup.options.model_size, models::StructBertSize::Custom);
  EXPECT_EQ(setup.options.model.hidden, 128);
  EXPECT_EQ(setup.options.model.vocabulary, 16);
  EXPECT_EQ(setup.sources.at("model.hidden"), "model_size tiny");
}

// C17: several processes that do not know of each other.
TEST_F(Pretrain, ALauncherIsRefusedUntilRanksExist) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  EXPECT_THROW(prepare_pretrain(options(2), {}), ConfigError);
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
}

}  // namespace
}  // namespace eflops::programs
