#include "programs/data_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "data/shard_manifest.h"
#include "data/shard_writer.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\non\nmat\n##s\ndog\n";

std::unique_ptr<text::Tokenizer> tokenizer(const fs::path& folder) {
  fs::create_directories(folder);
  write_file_atomically(folder / "vocab.txt", kVocabulary);
  text::TokenizerOptions options;
  options.vocabulary = folder.string();
  return text::load_tokenizer(options);
}

/// A folder of one shard: `documents` documents of six sentences "the cat sat on the mat".
void write_folder(const fs::path& folder, int documents) {
  const auto words = tokenizer(folder / data::kTokenizerFolder);
  std::vector<std::int32_t> sentence;
  words->encode_ids("the cat sat on the mat", sentence);
  const fs::path file = folder / "00000.shard";
  data::ShardWriter writer(file, {words->hash(), words->description(), words->size()});
  for (int document = 0; document < documents; ++document) {
    for (int s = 0; s < 6; ++s) writer.add_sentence(sentence);
    writer.end_document();
  }
  data::ShardManifest manifest;
  manifest.format = "sentences";
  manifest.tokenizer = words->description();
  manifest.tokenizer_hash = words->hash();
  manifest.vocabulary_size = words->size();
  manifest.shards = {{"00000.shard", documents, writer.sentences(), writer.tokens()}};
  writer.commit();
  data::write_manifest(folder, manifest);
}

std::string dumped(const DumpOptions& options) {
  ::testing::internal::CaptureStdout();
  run_dump(options);
  return ::testing::internal::GetCapturedStdout();
}

TEST(DataDump, MarksEachKindOfPrediction) {
  const TemporaryFolder folder;
  const auto words = tokenizer(folder.path());
  // [CLS] the [MASK] sat on [SEP] mat the dog cat ##s [SEP]; ids: the 5, cat 6, sat 7, on 8, mat 9, ##s 10, dog 11
  data::PretrainInstance made;
  made.tokens = {2, 5, 4, 7, 8, 3, 9, 5, 11, 6, 10, 3};
  made.segments = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  made.predicted_positions = {2, 4, 6, 7, 8, 9};
  made.predicted_labels = {6, 8, 5, 11, 9, 5};
  made.predicted_kinds = {data::PredictionKind::Masked,   data::PredictionKind::Kept,
                          data::PredictionKind::Shuffled, data::PredictionKind::Shuffled,
                          data::PredictionKind::Shuffled, data::PredictionKind::Random};
  made.pair_class = data::PairClass::Previous;
  made.sentence_label = 2;
  made.sample_id = 9;
  made.truncated_tokens = 4;
  EXPECT_EQ(instance_text(made, *words, data::resolved({})),
            "sample 9: previous (label 2), 12 tokens, 4 cut off\n"
            "  predicts 6: 1 masked, 1 replaced, 1 kept, 3 shuffled\n"
            "  A [CLS] the {[MASK] -> cat} sat {on} [SEP]\n"
            "  B {mat the dog -> the dog mat} {cat -> the} ##s [SEP]\n");
}

TEST(DataDump, ShowsInstancesAndCountsOfAShardFolder) {
  const TemporaryFolder folder;
  write_folder(folder.path(), 4);
  const std::string text = dumped({.input = {folder.path().string()}, .count = 2});
  EXPECT_THAT(text, HasSubstr("sample 0: "));
  EXPECT_THAT(text, HasSubstr("sample 1: "));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("sample 2: ")));
  EXPECT_THAT(text, HasSubstr("from 4 documents, 24 sentences, 144 tokens"));
  EXPECT_THAT(text, HasSubstr("classes: random "));
}

TEST(DataDump, WritesJsonLinesThatAgreeWithThemselves) {
  const TemporaryFolder folder;
  write_folder(folder.path(), 4);
  const std::string text = dumped({.input = {folder.path().string()}, .count = 1, .format = DumpFormat::Json});
  const Json line = parse_json(text, "dump");
  EXPECT_EQ(line["tokens"].size(), line["segments"].size());
  EXPECT_EQ(line["tokens"].size(), line["ids"].size());
  EXPECT_EQ(line["tokens"][0], "[CLS]");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(DataDump, RefusesWhatIsNotThere) {
  const TemporaryFolder folder;
  write_folder(folder.path(), 4);
  EXPECT_THROW(run_dump({}), ConfigError);
  EXPECT_THROW(run_dump({.input = {folder.path().string()}, .first = 1'000'000}), ConfigError);
}

TEST(DataDump, RefusesAnotherVocabulary) {
  const TemporaryFolder folder;
  write_folder(folder.path(), 4);
  const fs::path other = folder.path() / "other.txt";
  write_file_atomically(other, std::string(kVocabulary) + "bird\n");
  EXPECT_THROW(run_dump({.input = {folder.path().string()}, .vocabulary = other.string()}), DataError);
}

}  // namespace
}  // namespace eflops::programs
