#include "data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "data/shard_format.h"
#include "data/shard_manifest.h"
#include "data/shard_writer.h"

namespace eflops::data {
namespace {

using Documents = std::vector<std::vector<std::vector<std::int32_t>>>;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Documents of 2, 1 and 3 sentences; 4 + 1 + 6 = 11 tokens.
const Documents kDocuments{{{5, 6, 7}, {8}}, {{9}}, {{1, 2}, {3, 4, 5}, {0}}};

void write_shard(const std::filesystem::path& file, const Documents& documents, TokenizerIdentity tokenizer) {
  ShardWriter writer(file, tokenizer);
  for (const auto& document : documents) {
    for (const auto& sentence : document) writer.add_sentence(sentence);
    writer.end_document();
  }
  writer.commit();
}

Documents read_all(const Corpus& corpus) {
  Documents documents;
  for (std::int64_t d = 0; d < corpus.document_count(); ++d) {
    documents.emplace_back();
    for (std::int64_t s = 0; s < corpus.sentence_count(d); ++s) {
      documents.back().emplace_back();
      corpus.append_sentence(d, s, documents.back().back());
      EXPECT_EQ(corpus.sentence_length(d, s), static_cast<std::int64_t>(documents.back().back().size()));
    }
  }
  return documents;
}

template <typename Function>
std::string data_error(Function function) {
  try {
    function();
  } catch (const DataError& error) {
    return error.what();
  }
  return "no DataError";
}

const TokenizerIdentity kSmall{0xABCDEF, "ten pieces", 10};

TEST(Corpus, DocumentsInMemoryReadBackWithTheirCounts) {
  const Corpus corpus = Corpus::from_documents(kDocuments, 10);
  EXPECT_EQ(corpus.document_count(), 3);
  EXPECT_EQ(corpus.total_sentences(), 6);
  EXPECT_EQ(corpus.token_count(), 11);
  EXPECT_EQ(corpus.vocabulary_size(), 10);
  EXPECT_EQ(corpus.tokenizer_hash(), 0U);
  EXPECT_EQ(read_all(corpus), kDocuments);
}

TEST(Corpus, AppendsBehindWhatIsThere) {
  const Corpus corpus = Corpus::from_documents(kDocuments, 10);
  std::vector<std::int32_t> ids{42};
  corpus.append_sentence(0, 0, ids);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{42, 5, 6, 7}));
}

TEST(Corpus, SharedContentHasTheSameHashAndOtherContentAnother) {
  Documents other = kDocuments;
  other[2][1][0] = 4;
  EXPECT_EQ(Corpus::from_documents(kDocuments, 10).hash(), Corpus::from_documents(kDocuments, 10).hash());
  EXPECT_NE(Corpus::from_documents(kDocuments, 10).hash(), Corpus::from_documents(other, 10).hash());
}

TEST(Corpus, CopiesReadTheSameAfterTheOriginalIsGone) {
  std::vector<Corpus> copies;
  {
    const Corpus corpus = Corpus::from_documents(kDocuments, 10);
    copies.push_back(corpus);
  }
  EXPECT_EQ(read_all(copies[0]), kDocuments);
}

TEST(Corpus, RefusesEmptyDocumentsAndForeignIdsInMemory) {
  EXPECT_THROW(Corpus::from_documents({{{1}}, {}}, 10), InternalError);
  EXPECT_THROW(Corpus::from_documents({{{1}, {}}}, 10), InternalError);
  EXPECT_THROW(Corpus::from_documents({{{10}}}, 10), InternalError);
}

TEST(Shard, ReadsBackWhatWasWrittenInBothTokenWidths) {
  const TemporaryFolder folder;
  // 65,536 entries are the last that fit two bytes: the largest id is 65,535.
  const Documents narrow{{{65535, 0}, {1}}};
  const Documents wide{{{65536, 70000}, {1}}};
  write_shard(folder.path() / "narrow.shard", narrow, {1, "narrow", 65536});
  write_shard(folder.path() / "wide.shard", wide, {2, "wide", 70001});
  const Corpus two_bytes({folder.path() / "narrow.shard"});
  const Corpus four_bytes({folder.path() / "wide.shard"});
  EXPECT_EQ(read_all(two_bytes), narrow);
  EXPECT_EQ(read_all(four_bytes), wide);
  EXPECT_EQ(four_bytes.tokenizer_hash(), 2U);
  EXPECT_EQ(four_bytes.tokenizer_description(), "wide");
  two_bytes.verify();
  four_bytes.verify();
  // Header 160, tokens 3 x 2 padded to 8, starts (1 + 1) x 8 and (2 + 1) x 8, "narrow" 6.
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "narrow.shard"), 160U + 8 + 16 + 24 + 6);
}

TEST(Shard, DocumentsAreNumberedOverAllShardsInTheOrderGiven) {
  const TemporaryFolder folder;
  write_shard(folder.path() / "a.shard", {kDocuments[0], kDocuments[1]}, kSmall);
  write_shard(folder.path() / "b.shard", {kDocuments[2]}, kSmall);
  const Corpus forward({folder.path() / "a.shard", folder.path() / "b.shard"});
  const Corpus backward({folder.path() / "b.shard", folder.path() / "a.shard"});
  EXPECT_EQ(read_all(forward), kDocuments);
  EXPECT_EQ(read_all(backward), (Documents{kDocuments[2], kDocuments[0], kDocuments[1]}));
  EXPECT_EQ(forward.token_count(), 11);
  EXPECT_EQ(forward.total_sentences(), 6);
  EXPECT_NE(forward.hash(), backward.hash());
}

TEST(Shard, DocumentsWithoutSentencesAreNotWritten) {
  const TemporaryFolder folder;
  ShardWriter writer(folder.path() / "a.shard", kSmall);
  writer.end_document();
  writer.add_sentence(std::vector<std::int32_t>{1});
  writer.end_document();
  writer.end_document();
  writer.add_sentence(std::vector<std::int32_t>{2});
  writer.commit();  // ends the open one
  EXPECT_EQ(read_all(Corpus({folder.path() / "a.shard"})), (Documents{{{1}}, {{2}}}));
}

TEST(Shard, LeavesNothingBehindWithoutCommit) {
  const TemporaryFolder folder;
  {
    ShardWriter writer(folder.path() / "a.shard", kSmall);
    writer.add_sentence(std::vector<std::int32_t>{1});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Shard, ChecksumDoesNotDependOnThePiecesItIsMadeFrom) {
  std::vector<std::byte> bytes(3'000'001);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  BlockChecksum pieces;
  for (std::size_t at = 0, step = 1; at < bytes.size(); step = step * 3 % 700'001) {
    const std::size_t count = std::min(step, bytes.size() - at);
    pieces.update(std::span(bytes).subspan(at, count));
    at += count;
  }
  EXPECT_EQ(pieces.finish(), section_checksum(bytes));
  bytes[2'500'000] ^= std::byte{1};
  EXPECT_NE(pieces.finish(), section_checksum(bytes));
}

TEST(Shard, EveryTruncationIsRefusedWithTheFileNamed) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.shard";
  write_shard(file, kDocuments, kSmall);
  const std::string whole = read_file(file);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const std::string message = data_error([&] { Corpus({file}).verify(); });
    EXPECT_THAT(message, AllOf(HasSubstr("a.shard"), Not(HasSubstr("\n")))) << size << " bytes";
  }
}

TEST(Shard, EveryFlippedBitIsFoundByVerify) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.shard";
  write_shard(file, kDocuments, kSmall);
  const std::string whole = read_file(file);
  int padding = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    if (data_error([&] { Corpus({file}).verify(); }) == "no DataError") ++padding;
  }
  // Tokens take 11 x 2 = 22 bytes, so two bytes of padding are in no section; the starts are multiples of 8 by
  // themselves.
  EXPECT_EQ(padding, 16);
}

TEST(Shard, ADamagedIdIsAnErrorWhenReadNotANumberBeyondTheVocabulary) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.shard";
  write_shard(file, kDocuments, kSmall);
  std::string bytes = read_file(file);
  bytes[sizeof(ShardHeader) + 1] = 1;  // first id 5 becomes 261
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  const Corpus corpus({file});  // token data are not read on opening
  std::vector<std::int32_t> ids;
  EXPECT_THAT(data_error([&] { corpus.append_sentence(0, 0, ids); }),
              AllOf(HasSubstr("a.shard"), HasSubstr("id 261"), HasSubstr("the vocabulary has 10")));
}

TEST(Shard, OtherFilesAreNotShards) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "text.txt", std::string(500, 'x'));
  EXPECT_THAT(data_error([&] { Corpus({folder.path() / "text.txt"}); }), HasSubstr("not a shard"));
  EXPECT_THAT(data_error([&] { Corpus({folder.path() / "none"}); }), HasSubstr("no such shard or folder"));
  EXPECT_THAT(data_error([&] { Corpus({folder.path()}); }), HasSubstr("no manifest.json"));
}

TEST(Shard, DifferentVocabulariesAndRepeatedShardsAreRefused) {
  const TemporaryFolder folder;
  write_shard(folder.path() / "a.shard", kDocuments, kSmall);
  write_shard(folder.path() / "b.shard", kDocuments, {0xABCDEE, "other pieces", 10});
  EXPECT_THROW(Corpus({folder.path() / "a.shard", folder.path() / "b.shard"}), ConfigError);
  EXPECT_THROW(Corpus({folder.path() / "a.shard", folder.path() / "." / "a.shard"}), ConfigError);
  EXPECT_THROW(Corpus(std::vector<std::filesystem::path>{}), ConfigError);
}

TEST(Manifest, ReadsBackAndLeadsToItsShardsInOrder) {
  const TemporaryFolder folder;
  write_shard(folder.path() / "one.shard", {kDocuments[2]}, kSmall);
  write_shard(folder.path() / "two.shard", {kDocuments[0], kDocuments[1]}, kSmall);
  ShardManifest manifest;
  manifest.format = "sentences";
  manifest.sources = {"b.txt", "a.txt"};
  manifest.tokenizer = "ten pieces";
  manifest.tokenizer_hash = 0xFEDCBA9876543210;
  manifest.vocabulary_size = 10;
  manifest.counts = {{"documents", 3}, {"invalid_utf8", 0}};
  manifest.shards = {{"two.shard", 2, 3, 5}, {"one.shard", 1, 3, 6}};
  write_manifest(folder.path(), manifest);
  const ShardManifest read = read_manifest(folder.path());
  EXPECT_EQ(read.tokenizer_hash, 0xFEDCBA9876543210);
  EXPECT_EQ(read.sources, manifest.sources);
  EXPECT_EQ(read.counts, manifest.counts);
  EXPECT_EQ(read.shards[1].tokens, 6);
  EXPECT_EQ(read_all(Corpus({folder.path()})), kDocuments);
  std::filesystem::remove(folder.path() / "one.shard");
  EXPECT_THAT(data_error([&] { Corpus({folder.path()}); }), HasSubstr("lists one.shard, which is missing"));
}

TEST(Manifest, DamagedOnesAreDataErrors) {
  const TemporaryFolder folder;
  for (const char* text : {"", "{", "[]", "{}", "{\"eflops_shards\": 2}", "{\"eflops_shards\": \"x\"}",
                           "{\"eflops_shards\": 1, \"format\": 3}"}) {
    write_file_atomically(folder.path() / kManifestName, text);
    EXPECT_THAT(data_error([&] { read_manifest(folder.path()); }), HasSubstr("manifest.json")) << text;
  }
}

}  // namespace
}  // namespace eflops::data
