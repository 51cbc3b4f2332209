#include "data/sharding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "data/corpus.h"
#include "data/shard_manifest.h"
#include "data/sharding_folder.h"
#include "tests/support/data_folder.h"

namespace eflops::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Ids 0 to 4 are special, "w0" to "w99" are 5 to 104, "." is 105.
std::string word_vocabulary() {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("w{}\n", i);
  return text + ".\n";
}

class ShardingTest : public ::testing::Test {
 protected:
  ShardingTest() {
    Progress::set_quiet(true);
    if (!tokenizer_) tokenizer_ = text::load_tokenizer({.vocabulary = write("vocab.txt", word_vocabulary())});
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  ShardingSummary shard(const std::vector<std::string>& input, const std::string& output, std::int64_t processes = 1,
                        std::int64_t shard_size = 50) const {
    return make_shards({.input = input, .format = TextFormat::Sentences},
                       {.output = path(output), .shard_size = shard_size, .processes = processes}, *tokenizer_,
                       kSmallChunk);
  }

  template <typename Exception>
  static std::string error(const std::function<void()>& function) {
    try {
      function();
    } catch (const Exception& failure) {
      return failure.what();
    }
    return "no error";
  }

  static std::vector<std::vector<std::vector<std::int32_t>>> documents(const std::string& folder) {
    const Corpus corpus({folder});
    corpus.verify();
    std::vector<std::vector<std::vector<std::int32_t>>> all(static_cast<std::size_t>(corpus.document_count()));
    for (std::size_t d = 0; d < all.size(); ++d) {
      const auto document = static_cast<std::int64_t>(d);
      all[d].resize(static_cast<std::size_t>(corpus.sentence_count(document)));
      for (std::size_t s = 0; s < all[d].size(); ++s)
        corpus.append_sentence(document, static_cast<std::int64_t>(s), all[d][s]);
    }
    return all;
  }

  /// Every file below a folder with its bytes.
  static std::map<std::string, std::string> tree(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files[entry.path().lexically_relative(folder)] = read_file(entry.path());
    return files;
  }

  static constexpr std::size_t kSmallChunk = 64;
  TemporaryFolder folder_;
  static inline std::unique_ptr<text::Tokenizer> tokenizer_;  ///< made once: its tables take a while
};

TEST_F(ShardingTest, CountsAndIdsAreThoseOfTheText) {
  const std::string file = write("a.txt", "w0 w1 w2.\nw3 zebra.\n\n\nw4.\n");
  const ShardingSummary summary = shard({file}, "out");
  EXPECT_EQ(documents(path("out")),
            (std::vector<std::vector<std::vector<std::int32_t>>>{{{5, 6, 7, 105}, {8, 1, 105}}, {{9, 105}}}));
  EXPECT_EQ(summary.documents, 2);
  EXPECT_EQ(summary.counts[TextCount::Sentences], 3);
  EXPECT_EQ(summary.counts[TextCount::Tokens], 9);
  EXPECT_EQ(summary.counts[TextCount::UnknownTokens], 1);
  const ShardManifest manifest = read_manifest(path("out"));
  EXPECT_THAT(manifest.sources, ElementsAre(file));
  EXPECT_EQ(manifest.format, "sentences");
  EXPECT_EQ(manifest.vocabulary_size, 106);
  EXPECT_EQ(manifest.tokenizer_hash, tokenizer_->hash());
}

TEST_F(ShardingTest, TheTokenizerBesideTheShardsIsTheOneThatMadeThem) {
  shard({write("a.txt", "w0.\n")}, "out");
  EXPECT_EQ(text::load_tokenizer({.vocabulary = path("out/tokenizer")})->hash(),
            Corpus({path("out")}).tokenizer_hash());
}

TEST_F(ShardingTest, AShardEndsBehindTheDocumentThatReachesItsSize) {
  // Documents of 4, 4, 12 and 2 tokens with shards of 8: 4 + 4 | 12 (longer than a shard, whole) | 2.
  const ShardingSummary summary =
      shard({write("a.txt", "w0 w1 w2.\n\nw3 w4.\n.\n\nw5 w6 w7.\nw5 w6 w7.\nw5 w6 w7.\n\nw8.\n")}, "out", 1, 8);
  EXPECT_EQ(summary.shards, 3);
  EXPECT_EQ(summary.long_documents, 1);
  const ShardManifest manifest = read_manifest(path("out"));
  ASSERT_EQ(manifest.shards.size(), 3U);
  EXPECT_EQ(manifest.shards[0].documents, 2);
  EXPECT_EQ(manifest.shards[1].tokens, 12);
  EXPECT_EQ(manifest.shards[2].file, "00002.shard");
}

TEST_F(ShardingTest, OneDocumentOfManyChunksAndShardsStaysOne) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("w{}.\n", i % 100);  // 600 tokens, > 1,300 bytes
  const ShardingSummary summary = shard({write("a.txt", text)}, "out", 2, 50);
  EXPECT_EQ(summary.documents, 1);
  EXPECT_EQ(summary.shards, 1);
  EXPECT_EQ(documents(path("out")).at(0).size(), 300U);
}

// Sentence k of the text is the number k in base 100, so that a lost, repeated or moved one is seen (known fault T40).
TEST_F(ShardingTest, NoSentenceIsLostRepeatedOrMovedByShardsAndProcesses) {
  const auto digits = [](int k) { return std::vector<std::int32_t>{5 + k / 100, 5 + k % 100}; };
  std::vector<std::string> files;
  int next = 0;
  std::vector<std::size_t> sentences_of;
  for (int f = 0; f < 7; ++f) {
    std::string text;
    for (int d = 0; d < 20; ++d) {
      sentences_of.push_back(static_cast<std::size_t>(1 + (f * 20 + d) % 11));
      for (std::size_t s = 0; s < sentences_of.back(); ++s, ++next)
        text += fmt::format("w{} w{}\n", next / 100, next % 100);
      if (d < 19) text += "\n";
    }
    files.push_back(write(fmt::format("f{}", f), text));
  }
  shard(files, "one", 1, 37);
  const auto read = documents(path("one"));
  ASSERT_EQ(read.size(), 140U);
  int expected = 0;
  for (std::size_t d = 0; d < read.size(); ++d) {
    ASSERT_EQ(read[d].size(), sentences_of[d]) << d;
    for (const auto& sentence : read[d]) EXPECT_EQ(sentence, digits(expected++));
  }
  EXPECT_EQ(expected, next);
  for (const std::int64_t processes : {2, 3, 5}) {
    const std::string other = fmt::format("with{}", processes);
    shard(files, other, processes, 37);
    EXPECT_EQ(tree(path(other)), tree(path("one")));
  }
}

TEST_F(ShardingTest, SentencesOfWhichNothingIsLeftAreDroppedAndCounted) {
  // U+00AD is a soft hyphen, which BERT's clean-up removes: the second sentence and with it the second document are
  // empty.
  const ShardingSummary summary = shard({write("a.txt", "w0.\n\n\xC2\xAD\n\nw1.\n")}, "out");
  EXPECT_EQ(summary.documents, 2);
  EXPECT_EQ(summary.counts[TextCount::EmptySentences], 1);
}

TEST_F(ShardingTest, AFullFolderIsRefusedAndReplacedOnlyWhenItHoldsShards) {
  const std::string a = write("a.txt", "w0.\n");
  const std::string b = write("b.txt", "w1.\n");
  shard({a}, "out");
  EXPECT_THAT(error<ConfigError>([&] { shard({b}, "out"); }), AllOf(HasSubstr("not empty"), HasSubstr("--overwrite")));
  EXPECT_EQ(documents(path("out")).at(0).at(0).at(0), 5);
  make_shards({.input = {b}}, {.output = path("out"), .processes = 1, .overwrite = true}, *tokenizer_);
  EXPECT_EQ(documents(path("out")).at(0).at(0).at(0), 6);
  write("out/thesis.tex", "years of work");
  EXPECT_THAT(
      error<ConfigError>([&] { make_shards({.input = {b}}, {.output = path("out"), .overwrite = true}, *tokenizer_); }),
      HasSubstr("holds thesis.tex"));
  EXPECT_THAT(error<ConfigError>([&] { shard({b}, "a.txt"); }), HasSubstr("is a file"));
}

TEST_F(ShardingTest, WhatAKilledRunLeftBehindIsCleared) {
  std::filesystem::create_directories(path("out/.partial"));
  write("out/.partial/00000.shard", "half");
  shard({write("a.txt", "w0.\n")}, "out");
  EXPECT_EQ(documents(path("out")).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(path("out/.partial")));
}

TEST_F(ShardingTest, TwoRunsDoNotWriteIntoOneFolder) {
  const ShardFolder other(path("out"), ExistingShards::Refuse);
  EXPECT_THAT(error<ConfigError>([&] { shard({write("a.txt", "w0.\n")}, "out"); }),
              HasSubstr("another process is writing"));
}

TEST_F(ShardingTest, ErrorsLeaveNothingBehind) {
  const std::string good = write("a.txt", std::string(500, '.') + "\n\nw0.\n");
  const std::string bad = write("b.txt", std::string("w0.\n\0\n", 6));
  EXPECT_THROW(shard({good, bad}, "made/here", 2), DataError);
  EXPECT_FALSE(std::filesystem::exists(path("made")));
  std::filesystem::create_directory(path("there"));
  EXPECT_THROW(shard({good, bad}, "there", 2), DataError);
  EXPECT_TRUE(std::filesystem::is_empty(path("there")));
  EXPECT_THAT(error<DataError>([&] { shard({write("c.txt", "\n\n")}, "made"); }), HasSubstr("no sentence in"));
}

/// While alive, no file grows beyond a size: stands for a full disk (write fails with EFBIG in place of ENOSPC).
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit small{bytes, former_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    ::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit former_{};
  void (*handler_)(int);
};

TEST_F(ShardingTest, AFullDiskIsAnErrorAndLeavesNothingBehind) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "w1 w2 w3 w4.\n\n";  // 5 tokens of 2 bytes each: 300 kB
  const std::string file = write("a.txt", text);
  std::string message;
  {
    const SmallFiles full(100'000);
    message = error<DataError>([&] { shard({file}, "out", 2, 1'000'000); });
  }
  EXPECT_THAT(message, AllOf(HasSubstr("cannot write"), HasSubstr("File too large")));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// Largest resident size, in KiB, of a process that shards a file.
long peak_memory(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return usage.ru_maxrss;
}

TEST_F(ShardingTest, MemoryDoesNotGrowWithTheText) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory: its size says nothing";
  std::string part;
  for (int i = 0; i < 40'000; ++i) part += i % 20 == 0 ? "\n" : "w1 w22 w33 w44 w55 w66 w77.\n";  // 1 MB
  const auto file_of = [&](const std::string& name, int parts) {
    for (int i = 0; i < parts; ++i) std::ofstream(path(name), std::ios::app) << part;
    return path(name);
  };
  const auto run = [&](const std::string& file, const std::string& output) {
    return [this, file, output] {
      make_shards({.input = {file}, .format = TextFormat::Sentences},
                  {.output = path(output), .shard_size = 200'000, .processes = 2}, *tokenizer_);
    };
  };
  const long small = peak_memory(run(file_of("small.txt", 8), "small"));
  const long large = peak_memory(run(file_of("large.txt", 40), "large"));
  // 32 MB more text. Eight chunks fill every queue, so nothing should be larger; the allocator may differ by a few MB.
  EXPECT_LT(large - small, 8 * 1024) << small << " KiB and " << large << " KiB";
}

TEST_F(ShardingTest, RealTextGivesTheDocumentsItsReadmeCounts) {
  EFLOPS_NEED_DATA(data);
  const auto uncased = text::load_tokenizer({.vocabulary = (data / "vocab" / "bert-base-uncased-vocab.txt").string()});
  const ShardingSummary summary =
      make_shards({.input = {(data / "text" / "wikipedia_squad_dev_articles.txt.gz").string()}},
                  {.output = path("out"), .processes = 2}, *uncased);
  EXPECT_EQ(summary.documents, 48);
  EXPECT_THAT(summary.formats, ElementsAre(std::pair(TextFormat::Plain, 1)));
  EXPECT_EQ(summary.counts[TextCount::Lines], 2114);  // 2,067 paragraphs and 47 blank lines
  EXPECT_EQ(summary.counts[TextCount::EmptySentences], 0);
  EXPECT_EQ(summary.counts[TextCount::InvalidUtf8Lines], 0);
  // 0.25 M words make 0.25 to 0.4 M pieces, of which almost none are unknown.
  EXPECT_GT(summary.counts[TextCount::Tokens], 250'000);
  EXPECT_LT(summary.counts[TextCount::Tokens], 400'000);
  EXPECT_LT(summary.counts[TextCount::UnknownTokens], 1'000);
  const Corpus corpus({path("out")});
  EXPECT_EQ(corpus.token_count(), summary.counts[TextCount::Tokens]);
  EXPECT_EQ(corpus.total_sentences(), summary.counts[TextCount::Sentences]);
}

}  // namespace
}  // namespace eflops::data
