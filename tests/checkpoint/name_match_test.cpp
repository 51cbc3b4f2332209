#include "checkpoint/name_match.h"

#include <gmock/gmock.h>

#include "checkpoint_testing.h"

namespace eflops::checkpoint {
namespace {

using testing::data_error;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Need = WantedTensor::Need;

TensorView stored(std::string name, std::vector<std::int64_t> shape) {
  return {.name = std::move(name), .dtype = "F32", .shape = std::move(shape), .bytes = {}};
}

const std::vector<WantedTensor> kWanted = {
    {.name = "bert.embeddings.word_embeddings.weight", .shape = {30522, 8}, .rows_may_be_padded = true},
    {.name = "bert.embeddings.LayerNorm.weight", .shape = {8}},
    {.name = "cls.seq_relationship.weight", .shape = {3, 8}, .need = Need::Optional}};

TEST(CanonicalBertName, GivesOldAndBareNamesTheirPresentForm) {
  EXPECT_EQ(canonical_bert_name("bert.embeddings.LayerNorm.gamma"), "bert.embeddings.LayerNorm.weight");
  EXPECT_EQ(canonical_bert_name("encoder.layer.0.output.LayerNorm.beta"), "bert.encoder.layer.0.output.LayerNorm.bias");
  EXPECT_EQ(canonical_bert_name("pooler.dense.bias"), "bert.pooler.dense.bias");
  EXPECT_EQ(canonical_bert_name("cls.predictions.bias"), "cls.predictions.bias");
  EXPECT_EQ(canonical_bert_name("other.beta"), "other.beta");
}

TEST(NameMatch, ListsWhatIsUsedIgnoredAndMissing) {
  const std::vector<TensorView> all = {
      stored("cls.predictions.decoder.weight", {30522, 8}), stored("embeddings.LayerNorm.gamma", {8}),
      stored("embeddings.word_embeddings.weight", {30522, 8}), stored("embeddings.position_ids", {1, 512})};
  const NameMatch match = match_bert_names(all, kWanted, "dir");
  EXPECT_THAT(match.source, ElementsAre(&all[2], &all[1], nullptr));
  EXPECT_THAT(match.used, ElementsAre("bert.embeddings.word_embeddings.weight", "bert.embeddings.LayerNorm.weight"));
  EXPECT_THAT(match.ignored, ElementsAre("embeddings.position_ids", "cls.predictions.decoder.weight"));
  EXPECT_THAT(match.missing, ElementsAre("cls.seq_relationship.weight"));
  EXPECT_EQ(match.summary(),
            "2 tensors used; ignored: embeddings.position_ids, cls.predictions.decoder.weight; missing, made anew: "
            "cls.seq_relationship.weight");
}

// A two-way head of a BERT directory where StructBERT wants three classes.
TEST(NameMatch, AHeadOfAnotherShapeIsMadeAnew) {
  const std::vector<TensorView> all = {stored("bert.embeddings.word_embeddings.weight", {30522, 8}),
                                       stored("bert.embeddings.LayerNorm.weight", {8}),
                                       stored("cls.seq_relationship.weight", {2, 8})};
  const NameMatch match = match_bert_names(all, kWanted, "dir");
  EXPECT_EQ(match.source[2], nullptr);
  EXPECT_THAT(match.ignored, ElementsAre("cls.seq_relationship.weight"));
  EXPECT_THAT(match.missing, ElementsAre("cls.seq_relationship.weight"));
}

// T23: 30522 rows padded to 30528.
TEST(NameMatch, AcceptsAPaddedVocabularyOnlyWhereAllowed) {
  std::vector<TensorView> all = {stored("bert.embeddings.word_embeddings.weight", {30528, 8}),
                                 stored("bert.embeddings.LayerNorm.weight", {8})};
  EXPECT_THAT(match_bert_names(all, kWanted, "dir").ignored, IsEmpty());
  all[0].shape = {30000, 8};
  EXPECT_EQ(
      data_error([&] { match_bert_names(all, kWanted, "dir"); }),
      R"(dir: "bert.embeddings.word_embeddings.weight": the vocabulary has 30522 entries, the embedding only 30000 rows)");
  all[0].shape = {30522, 8};
  all[1].shape = {16};
  EXPECT_EQ(data_error([&] { match_bert_names(all, kWanted, "dir"); }),
            R"(dir: tensor "bert.embeddings.LayerNorm.weight" has shape [16], this run needs [8])");
}

TEST(NameMatch, RefusesAMissingOrUnknownTensorOfTheBody) {
  std::vector<TensorView> all = {stored("bert.embeddings.word_embeddings.weight", {30522, 8})};
  EXPECT_EQ(data_error([&] { match_bert_names(all, kWanted, "dir"); }),
            "dir: no tensor bert.embeddings.LayerNorm.weight [8]");
  all.push_back(stored("bert.embeddings.LayerNorm.weight", {8}));
  all.push_back(stored("encoder.layer.12.output.dense.weight", {8, 8}));
  EXPECT_EQ(data_error([&] { match_bert_names(all, kWanted, "dir"); }),
            R"(dir: tensor "encoder.layer.12.output.dense.weight" is not part of this model)");
}

TEST(NameMatch, RefusesTwoTensorsOfOneMeaning) {
  const std::vector<TensorView> all = {stored("bert.embeddings.LayerNorm.weight", {8}),
                                       stored("embeddings.LayerNorm.gamma", {8})};
  EXPECT_EQ(data_error([&] { match_bert_names(all, kWanted, "dir"); }),
            R"(dir: tensors "bert.embeddings.LayerNorm.weight" and "embeddings.LayerNorm.gamma" are the same one)");
}

}  // namespace
}  // namespace eflops::checkpoint
