#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/options.h"
#include "base/progress.h"
#include "data/corpus.h"
#include "data/shard_manifest.h"
#include "programs/data_check.h"
#include "programs/data_shard.h"
#include "programs/data_stat.h"
#include "programs/data_tokenize.h"
#include "programs/data_train_vocab.h"

namespace eflops::programs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DataVerbs : public ::testing::Test {
 protected:
  DataVerbs() { Progress::set_quiet(true); }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  /// Ids: specials 0 to 4, rain 5, snow 6, falls 7, "." 8.
  std::string vocabulary() const {
    return write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nrain\nsnow\nfalls\n.\n");
  }

  ShardOptions shard_options(const std::string& text) const {
    ShardOptions options;
    options.text.input = {write("text.txt", text)};
    options.text.format = data::TextFormat::Sentences;
    options.tokenizer.vocabulary = vocabulary();
    options.shards.output = path("out");
    options.shards.processes = 1;
    return options;
  }

  struct Output {
    std::string out;
    std::string err;
    std::string error;
  };
  static Output captured(const std::function<void()>& run) {
    Output output;
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    try {
      run();
    } catch (const Error& error) {
      output.error = error.what();
    }
    std::fflush(stdout);
    output.out = ::testing::internal::GetCapturedStdout();
    output.err = ::testing::internal::GetCapturedStderr();
    return output;
  }

  TemporaryFolder folder_;
};

TEST_F(DataVerbs, ShardSaysWhatItMadeAndWhatWasOdd) {
  const Output output =
      captured([&] { run_shard(shard_options("Rain falls.\r\nSnow fell.\n\nRain\xFF falls.\n\n\xC2\xAD\n")); });
  EXPECT_EQ(output.error, "");
  EXPECT_THAT(output.out, AllOf(HasSubstr("files       1 (1 sentences)\n"), HasSubstr("documents   2\n"),
                                HasSubstr("sentences   3\n"), HasSubstr("tokens      9 (11.111 % unknown)\n")));
  EXPECT_THAT(output.out, HasSubstr("odd         1 lines with CRLF, 1 lines with invalid UTF-8, 1 bytes left out as "
                                    "invalid, 1 sentences of which no token was left\n"));
  EXPECT_THAT(output.err, AllOf(HasSubstr("not UTF-8 and were left out"), HasSubstr("11.1 % of the tokens are unknown"),
                                Not(HasSubstr("one document"))));
}

TEST_F(DataVerbs, ShardWarnsOfATextThatIsOneDocument) {
  const Output output = captured([&] { run_shard(shard_options("Rain falls.\nSnow falls.\n")); });
  EXPECT_THAT(output.err, HasSubstr("the text is one document"));
  EXPECT_THAT(output.out, Not(HasSubstr("odd ")));
}

TEST_F(DataVerbs, ShardRefusesAVocabularyWithoutMask) {
  ShardOptions options = shard_options("Rain falls.\n");
  options.tokenizer.vocabulary = write("bad.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nrain\n");
  EXPECT_THAT(captured([&] { run_shard(options); }).error, HasSubstr("[MASK]"));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(DataVerbs, ADryRunEstimatesAndTouchesNothing) {
  const ShardOptions options = shard_options("Rain falls.\n\nSnow falls.\n");
  const Output output = captured([&] { estimate_shard(options); });
  // All 25 bytes are in the first chunk: 6 tokens of 2 bytes.
  EXPECT_THAT(output.out,
              AllOf(HasSubstr("would read  1 files, 25 B\n"), HasSubstr("about       6 tokens, 12 B of shards"),
                    HasSubstr("judging by the first 25 B (sentences)")));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  captured([&] { run_shard(options); });
  EXPECT_THAT(captured([&] { estimate_shard(options); }).error, HasSubstr("is not empty"));
}

TEST_F(DataVerbs, OptionsHaveOneNameEachAndSettleByPath) {
  ShardOptions options;
  const OptionSet set(options);
  assign(set, {.path = "shard-size", .values = {"2M"}, .source = "flag --shard-size"});
  assign(set, {.path = "format", .values = {"wikiextractor"}, .source = "flag --format"});
  assign(set, {.path = "vocabulary", .values = {"v"}, .source = "flag --vocabulary"});
  EXPECT_EQ(options.shards.shard_size, 2'000'000);
  EXPECT_EQ(options.text.format, data::TextFormat::WikiExtractor);
  EXPECT_EQ(options.tokenizer.vocabulary, "v");
  std::set<std::string> paths;
  for (const FieldDescription& field : describe(set)) EXPECT_TRUE(paths.insert(field.path).second) << field.path;
}

TEST_F(DataVerbs, TokenizeWritesALineForEachLineThatIsNotEmpty) {
  TokenizeOptions options{.input = {write("text.txt", "Rain falls.\n\nsnow\n")},
                          .tokenizer = {.vocabulary = vocabulary()}};
  EXPECT_EQ(captured([&] { run_tokenize(options); }).out, "rain falls .\nsnow\n");
  options.format = TokenizeFormat::Ids;
  EXPECT_EQ(captured([&] { run_tokenize(options); }).out, "5 7 8\n6\n");
  options.format = TokenizeFormat::Summary;
  const Json summary = parse_json(captured([&] { run_tokenize(options); }).out, "summary");
  EXPECT_EQ(summary.at("lines"), 2);
  EXPECT_EQ(summary.at("tokens"), 4);
  EXPECT_EQ(summary.at("bytes"), 17);  // 11 + 4, and a line break each
  IdDigest digest;
  digest.add_line(std::vector<std::int32_t>{5, 7, 8});
  digest.add_line(std::vector<std::int32_t>{6});
  EXPECT_EQ(summary.at("digest"), hex64(digest.value()));
}

TEST_F(DataVerbs, TokenizeShowsWhereAPieceLies) {
  const TokenizeOptions options{
      .text = "\u00e9 rain", .tokenizer = {.vocabulary = vocabulary()}, .format = TokenizeFormat::Json};
  EXPECT_EQ(captured([&] { run_tokenize(options); }).out,
            "{\"text\":\"\u00e9 rain\",\"tokens\":[{\"piece\":\"[UNK]\",\"id\":1,\"begin\":0,\"end\":1},"
            "{\"piece\":\"rain\",\"id\":5,\"begin\":2,\"end\":6}]}\n");
}

TEST_F(DataVerbs, TokenizeWantsOneText) {
  EXPECT_THAT(captured([] { run_tokenize({}); }).error, HasSubstr("input is empty"));
  EXPECT_THAT(captured([] { run_tokenize({.input = {"a"}, .text = "b"}); }).error, HasSubstr("both given"));
}

TEST(IdDigest, IsFnv1aOverWords) {
  // (0xcbf29ce484222325 ^ 0xffffffff) * 0x100000001b3 mod 2^64, worked out by hand in Python's integers.
  IdDigest empty_line;
  empty_line.add_line({});
  EXPECT_EQ(empty_line.value(), 0x6b1d723e79fe466eU);
  IdDigest one;
  one.add_line(std::vector<std::int32_t>{7});
  EXPECT_EQ(one.value(), 0x4c2c8f34b1d37dbU);
}

TEST_F(DataVerbs, CheckPassesWholeShardsAndFindsEveryDamagedOne) {
  ShardOptions options = shard_options("Rain falls.\n\nSnow falls.\n\nRain.\n");
  options.shards.shard_size = 1;  // a shard a document
  captured([&] { run_shard(options); });
  const CheckOptions check{.input = {path("out")}};
  const Output whole = captured([&] { run_check(check); });
  EXPECT_EQ(whole.error, "");
  EXPECT_THAT(whole.out, HasSubstr("00002.shard: 1 documents, 1 sentences, 2 tokens"));
  for (const char* name : {"out/00000.shard", "out/00002.shard"}) {
    std::string bytes = read_file(path(name));
    bytes[160] ^= 1;  // the first token
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  const Output damaged = captured([&] { run_check(check); });
  EXPECT_THAT(damaged.error, AllOf(StartsWith("2 of 4 checks found damage"), HasSubstr("00000.shard")));
  EXPECT_THAT(damaged.out,
              AllOf(HasSubstr("DAMAGED  " + path("out/00002.shard")), HasSubstr("ok       " + path("out/00001"))));
}

TEST_F(DataVerbs, CheckFindsAForeignTokenizerAndAForeignShard) {
  captured([&] { run_shard(shard_options("Rain falls.\n\nSnow falls.\n")); });
  write("out/tokenizer/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nsnow\nrain\nfalls\n.\n");
  EXPECT_THAT(captured([&] { run_check({.input = {path("out")}}); }).error, HasSubstr("is not the tokenizer"));
  ShardOptions other = shard_options("Rain.\n");
  other.shards.output = path("other");
  captured([&] { run_shard(other); });
  std::filesystem::copy_file(path("other/00000.shard"), path("out/00000.shard"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(captured([&] { run_check({.input = {path("out")}}); }).error,
              HasSubstr("not the shard that manifest.json lists"));
}

TEST_F(DataVerbs, StatCountsWhatIsInTheShards) {
  captured([&] { run_shard(shard_options("Rain falls.\nRain.\n\nSnow falls falls.\n\nHail.\n")); });
  const Output output = captured([&] { run_stat({.input = {path("out")}, .top = 2}); });
  EXPECT_EQ(output.error, "");
  // Sentences of 3, 2, 4 and 2 tokens: "." 4 times, "falls" 3 times, of 11.
  EXPECT_THAT(output.out,
              AllOf(HasSubstr("tokens      11\n"),
                    HasSubstr("3 documents in sentences: mean 1.3, median 1, 90 % <= 2, 99 % <= 2, longest 2\n"),
                    HasSubstr("4 sentences in tokens: mean 2.8, median 2, 90 % <= 4, 99 % <= 4, longest 4\n"),
                    HasSubstr("in use      5 of 9 pieces\n"), HasSubstr("unknown     1 tokens\n")));
  EXPECT_THAT(output.out,
              AllOf(HasSubstr("4  36.364 %  .\n"), HasSubstr("3  27.273 %  falls\n"), Not(HasSubstr("  rain\n"))));
}

TEST_F(DataVerbs, VerbsWithoutInputSayWhatToGive) {
  EXPECT_THAT(captured([] { run_check({}); }).error, HasSubstr("input is empty"));
  EXPECT_THAT(captured([] { run_stat({}); }).error, HasSubstr("input is empty"));
  ShardOptions options = shard_options("");
  options.text.input.clear();
  EXPECT_THAT(captured([&] { run_shard(options); }).error, HasSubstr("no input"));
}

class TrainVocab : public DataVerbs {
 protected:
  TrainVocabOptions options(VocabularyKind kind, const std::string& output) const {
    TrainVocabOptions wanted;
    std::string text;
    for (int i = 0; i < 200; ++i)
      text +=
          fmt::format("Rain fell on day {} and the river rose {} feet.\nNobody had seen that before.\n\n", i, i % 7);
    wanted.text.input = {write("text.txt", text)};
    wanted.text.format = data::TextFormat::Sentences;
    wanted.kind = kind;
    wanted.output = path(output);
    wanted.vocabulary_size = kind == VocabularyKind::WordPiece ? 80 : 60;
    return wanted;
  }
};

TEST_F(TrainVocab, WordPieceIsTheSameForAnyNumberOfProcessesAndShardsTheText) {
  TrainVocabOptions wanted = options(VocabularyKind::WordPiece, "one");
  wanted.processes = 1;
  EXPECT_EQ(captured([&] { run_train_vocab(wanted); }).error, "");
  wanted.processes = 3;
  wanted.output = path("three");
  captured([&] { run_train_vocab(wanted); });
  EXPECT_EQ(read_file(path("three/vocab.txt")), read_file(path("one/vocab.txt")));
  ShardOptions shard = shard_options("The river rose.\n\nNobody had seen rain.\n");
  shard.tokenizer.vocabulary = path("one");
  const Output output = captured([&] { run_shard(shard); });
  EXPECT_THAT(output.out, HasSubstr("(0.000 % unknown)"));
}

TEST_F(TrainVocab, CasedKeepsUpperCase) {
  TrainVocabOptions wanted = options(VocabularyKind::WordPiece, "cased");
  wanted.cased = true;
  captured([&] { run_train_vocab(wanted); });
  EXPECT_THAT(read_file(path("cased/vocab.txt")), AllOf(HasSubstr("\nN\n"), HasSubstr("\nR\n")));
  captured([&] { run_train_vocab(options(VocabularyKind::WordPiece, "uncased")); });
  EXPECT_THAT(read_file(path("uncased/vocab.txt")), Not(HasSubstr("\nN\n")));
}

TEST_F(TrainVocab, SentencePieceModelsLoadAndShard) {
  for (const auto& [kind, name] :
       {std::pair(VocabularyKind::Unigram, "unigram"), std::pair(VocabularyKind::Bpe, "bpe")}) {
    EXPECT_EQ(captured([&] { run_train_vocab(options(kind, name)); }).error, "");
    ShardOptions shard = shard_options("The river rose.\n\nNobody had seen rain.\n");
    shard.tokenizer.vocabulary = path(name);
    shard.shards.output = path(std::string(name) + "-shards");
    EXPECT_EQ(captured([&] { run_shard(shard); }).error, "");
    EXPECT_EQ(data::Corpus({shard.shards.output}).vocabulary_size(), 60);
  }
}

TEST_F(TrainVocab, AFullFolderIsRefusedWithoutOverwrite) {
  TrainVocabOptions wanted = options(VocabularyKind::WordPiece, "out");
  captured([&] { run_train_vocab(wanted); });
  EXPECT_THAT(captured([&] { run_train_vocab(wanted); }).error, HasSubstr("is not empty"));
  wanted = options(VocabularyKind::Unigram, "out");
  wanted.overwrite = true;
  EXPECT_EQ(captured([&] { run_train_vocab(wanted); }).error, "");
  EXPECT_FALSE(std::filesystem::exists(path("out/vocab.txt")));
  EXPECT_TRUE(std::filesystem::exists(path("out/spiece.model")));
}

}  // namespace
}  // namespace eflops::programs
