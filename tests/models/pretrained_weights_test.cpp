#include "models/pretrained_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/files.h"
#include "models/structbert.h"

namespace eflops::models {
namespace {

namespace fs = std::filesystem;
using checkpoint::NameMatch;
using checkpoint::TensorView;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kQuery = "bert.encoder.layer.0.attention.self.query.weight";
constexpr const char* kWords = "bert.embeddings.word_embeddings.weight";

StructBertOptions tiny() {
  StructBertOptions options;
  options.layers = 1;
  options.hidden = 8;
  options.heads = 2;
  options.intermediate = 16;
  options.vocabulary = 30;
  options.positions = 8;
  return options;
}

/// A tensor of its own bytes, to be renamed, converted or spoilt.
struct Stored {
  std::string dtype = "F32";
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};
using Directory = std::map<std::string, Stored>;

template <typename Element>
std::vector<std::byte> bytes_of(const std::vector<Element>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Element));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Stored stored(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  return {.shape = std::move(shape), .bytes = bytes_of(values)};
}

std::vector<float> values_of(const StructBert& model, std::string_view name) {
  auto& store = const_cast<StructBert&>(model).parameters();
  const std::span<float> values = store.values_of(*store.find(name));
  return {values.begin(), values.end()};
}

class PretrainedWeightsTest : public ::testing::Test {
 protected:
  /// Every tensor of the source model, under its present name.
  Directory everything() {
    Directory all;
    for (const nn::Parameter& parameter : source_.parameters().parameters()) {
      std::vector<std::int64_t> shape;
      for (std::size_t axis = 0; axis < parameter.shape.rank(); ++axis) shape.push_back(parameter.shape[axis]);
      all[parameter.name] = stored(std::move(shape), values_of(source_, parameter.name));
    }
    return all;
  }
  PretrainedWeights opened(const Directory& directory, const std::string& name = "dir") {
    const fs::path folder = folder_.path() / name;
    fs::create_directories(folder);
    checkpoint::BertConfig config;
    config.vocab_size = directory.contains(kWords) ? directory.at(kWords).shape[0] : 30;
    config.hidden_size = 8;
    config.num_attention_heads = 2;
    config.num_hidden_layers = 1;
    config.intermediate_size = 16;
    config.max_position_embeddings = 8;
    checkpoint::write_bert_config(folder, config);
    std::vector<TensorView> views;
    for (const auto& [tensor, value] : directory) views.push_back({tensor, value.dtype, value.shape, value.bytes});
    checkpoint::write_safetensors(folder / "model.safetensors", views);
    return PretrainedWeights(folder);
  }
  /// Loads into a model that began from another seed.
  NameMatch load(const Directory& directory) { return opened(directory).load(target_.parameters()); }
  std::string refusal(const Directory& directory) {
    const PretrainedWeights weights = opened(directory);
    std::string message;
    try {
      weights.load(target_.parameters());
    } catch (const DataError& error) {
      message = error.what();
    }
    EXPECT_THAT(message, HasSubstr((folder_.path() / "dir" / "model.safetensors").string()));
    return message;
  }
  void expect_all_equal() {
    for (const nn::Parameter& parameter : source_.parameters().parameters())
      EXPECT_EQ(values_of(target_, parameter.name), values_of(source_, parameter.name)) << parameter.name;
  }

  TemporaryFolder folder_;
  StructBert source_{tiny(), 1};
  StructBert target_{tiny(), 2};
};

TEST_F(PretrainedWeightsTest, EveryTensorIsCopiedBitForBit) {
  ASSERT_NE(values_of(target_, kQuery), values_of(source_, kQuery));
  const std::uint64_t before = target_.parameters().version();
  const NameMatch match = load(everything());
  expect_all_equal();
  EXPECT_THAT(match.missing, IsEmpty());
  EXPECT_THAT(match.ignored, IsEmpty());
  EXPECT_NE(target_.parameters().version(), before);
}

TEST_F(PretrainedWeightsTest, UnprefixedNamesAndGammaAndBetaAreUnderstood) {
  Directory old;
  for (auto& [name, value] : everything()) {
    std::string changed = name.starts_with("bert.") ? name.substr(5) : name;
    if (const auto at = changed.find("LayerNorm.weight"); at != std::string::npos)
      changed.replace(at, 16, "LayerNorm.gamma");
    if (const auto at = changed.find("LayerNorm.bias"); at != std::string::npos)
      changed.replace(at, 14, "LayerNorm.beta");
    old[changed] = value;
  }
  ASSERT_TRUE(old.contains("embeddings.LayerNorm.gamma"));
  EXPECT_THAT(load(old).missing, IsEmpty());
  expect_all_equal();
}

TEST_F(PretrainedWeightsTest, MissingHeadsKeepTheirSeedsValuesAndAreListed) {
  Directory body = everything();
  std::erase_if(body, [](const auto& entry) {
    return entry.first.starts_with("cls.") || entry.first.starts_with("bert.pooler.");
  });
  body["classifier.weight"] = stored({2, 8}, std::vector<float>(16, 0.5F));
  body["bert.embeddings.position_ids"] = {.dtype = "I64", .shape = {1, 8}, .bytes = std::vector<std::byte>(64)};
  const NameMatch match = load(body);
  EXPECT_THAT(match.missing, Contains("cls.predictions.transform.dense.weight"));
  EXPECT_THAT(match.missing, Contains("bert.pooler.dense.weight"));
  EXPECT_THAT(match.ignored, ElementsAre("bert.embeddings.position_ids", "classifier.weight"));
  const StructBert fresh(tiny(), 2);
  EXPECT_EQ(values_of(target_, "bert.pooler.dense.weight"), values_of(fresh, "bert.pooler.dense.weight"));
  EXPECT_EQ(values_of(target_, kQuery), values_of(source_, kQuery));
}

// BERT's two classes where StructBERT has three.
TEST_F(PretrainedWeightsTest, ASentenceHeadOfAnotherClassCountIsMadeAnew) {
  Directory bert = everything();
  bert["cls.seq_relationship.weight"] = stored({2, 8}, std::vector<float>(16, 0.5F));
  bert["cls.seq_relationship.bias"] = stored({2}, {1, 2});
  const NameMatch match = load(bert);
  EXPECT_THAT(match.missing, ElementsAre("cls.seq_relationship.weight", "cls.seq_relationship.bias"));
  EXPECT_THAT(match.ignored, ElementsAre("cls.seq_relationship.bias", "cls.seq_relationship.weight"));
  EXPECT_THAT(values_of(target_, "cls.seq_relationship.weight"), Not(Contains(0.5F)));
}

TEST_F(PretrainedWeightsTest, ALeftOutHeadIsListedOnBothSides) {
  PretrainedWeights weights = opened(everything());
  weights.leave_out("cls.seq_relationship.");
  const NameMatch match = weights.check(target_.parameters().parameters());
  EXPECT_THAT(match.missing, ElementsAre("cls.seq_relationship.weight", "cls.seq_relationship.bias"));
  EXPECT_THAT(match.ignored, ElementsAre("cls.seq_relationship.bias", "cls.seq_relationship.weight"));
}

// A 3-way head of our own lies beside Hugging Face's file.
TEST_F(PretrainedWeightsTest, TheHeadUnderTrainerCounts) {
  Directory ours = everything();
  const std::string name = "cls.seq_relationship.weight";
  const auto head = ours.extract(name);
  fs::create_directories(folder_.path() / "dir" / "trainer");
  checkpoint::write_safetensors(folder_.path() / "dir" / "trainer" / "heads.safetensors",
                                std::vector<TensorView>{{name, "F32", head.mapped().shape, head.mapped().bytes}});
  EXPECT_THAT(load(ours).missing, IsEmpty());
  expect_all_equal();
}

// 1 + 2^-9 is 0x3F808000 in f32: between 0x3F80 and 0x3F81 in bf16, exact in f16 (0x3C02).
TEST_F(PretrainedWeightsTest, HalvesAndBf16AreConvertedExactly) {
  Directory mixed = everything();
  const std::size_t count = 64;
  mixed[kQuery].dtype = "F16";
  mixed[kQuery].bytes = bytes_of(std::vector<std::uint16_t>(count, 0x3C02));
  const std::string key = "bert.encoder.layer.0.attention.self.key.weight";
  mixed[key].dtype = "BF16";
  mixed[key].bytes = bytes_of(std::vector<std::uint16_t>(count, 0x3F81));
  load(mixed);
  EXPECT_EQ(values_of(target_, kQuery), std::vector<float>(count, 1.0F + 0x1p-9F));
  EXPECT_EQ(values_of(target_, key), std::vector<float>(count, 1.0F + 0x1p-7F));
}

// T23: rows beyond the vocabulary are in the file but not in the model, so they are never predicted.
TEST_F(PretrainedWeightsTest, PaddedRowsStayOut) {
  Directory padded = everything();
  for (const char* name : {kWords, "cls.predictions.bias"}) {
    Stored& tensor = padded[name];
    tensor.bytes.resize(tensor.bytes.size() / 30 * 32, std::byte{0xFF});  // NaN
    tensor.shape[0] = 32;
  }
  EXPECT_THAT(load(padded).missing, IsEmpty());
  expect_all_equal();
}

TEST_F(PretrainedWeightsTest, AVocabularyLargerThanTheEmbeddingIsRefusedWithBothSizes) {
  Directory small = everything();
  small[kWords].bytes.resize(24 * 8 * 4);
  small[kWords].shape[0] = 24;
  EXPECT_THAT(refusal(small), HasSubstr("the vocabulary has 30 entries, the embedding only 24 rows"));
}

TEST_F(PretrainedWeightsTest, NanIsRefusedWithTensorAndElement) {
  Directory spoilt = everything();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(spoilt[kQuery].bytes.data() + 5 * sizeof(float), &nan, sizeof(float));
  EXPECT_THAT(refusal(spoilt), HasSubstr(std::string("tensor \"") + kQuery + "\" is nan at element 5"));
  EXPECT_THROW(opened(spoilt).check(target_.parameters().parameters()), DataError);
}

TEST_F(PretrainedWeightsTest, AnEncoderTensorThatIsMissingOrOfAnotherShapeOrTypeIsRefused) {
  Directory missing = everything();
  missing.erase(kQuery);
  EXPECT_THAT(refusal(missing), HasSubstr(std::string("no tensor ") + kQuery + " [8, 8]"));
  Directory flat = everything();
  flat[kQuery].shape = {4, 16};
  EXPECT_THAT(refusal(flat), HasSubstr("has shape [4, 16], this run needs [8, 8]"));
  Directory integers = everything();
  integers[kQuery].dtype = "I32";
  EXPECT_THAT(refusal(integers), HasSubstr("has type I32, expected F32, F16, BF16, F64"));
}

TEST_F(PretrainedWeightsTest, TheDecodersBiasStandsInForThePredictionsBias) {
  Directory tied = everything();
  auto bias = tied.extract("cls.predictions.bias");
  bias.key() = "cls.predictions.decoder.bias";
  tied.insert(std::move(bias));
  EXPECT_THAT(load(tied).missing, IsEmpty());
}

TEST_F(PretrainedWeightsTest, TheChecksumIsOfTheContentNotOfThePlace) {
  Directory all = everything();
  const std::string sum = opened(all).checksum();
  EXPECT_EQ(opened(all, "elsewhere").checksum(), sum);
  all[kQuery].bytes[0] ^= std::byte{1};
  EXPECT_NE(opened(all).checksum(), sum);
}

TEST(StructBertParameters, AreKnownWithoutAModel) {
  StructBert model(tiny(), 1);
  const std::vector<nn::Parameter> known = StructBert::parameters_of(tiny());
  ASSERT_EQ(known.size(), model.parameters().parameters().size());
  for (std::size_t i = 0; i < known.size(); ++i) EXPECT_EQ(known[i].name, model.parameters().parameters()[i].name);
}

}  // namespace
}  // namespace eflops::models
