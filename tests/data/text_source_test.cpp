#include "data/text_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "data/text_source_parse.h"

namespace eflops::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

using Documents = std::vector<std::vector<std::string>>;

/// Collects documents; one that is open at the end of a chunk stays open.
class Collector : public SentenceSink {
 public:
  void sentence(std::string_view text) override {
    if (!open_) documents.emplace_back();
    open_ = true;
    documents.back().emplace_back(text);
  }
  void end_document() override { open_ = false; }
  Documents documents;

 private:
  bool open_ = false;
};

class TextSourceTest : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes, const std::string& name = "text.txt") {
    const auto file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

  Documents read(const TextSourceOptions& options, std::size_t chunk_bytes = TextSource::kChunkBytes) {
    counts_ = {};
    Collector collector;
    TextSource source(options, chunk_bytes);
    TextChunk chunk;
    while (source.next(chunk)) {
      if (!chunk.continues) collector.end_document();
      parse_chunk(chunk, options, collector, counts_);
    }
    formats_ = source.formats();
    empty_files_ = source.empty_files();
    files_with_bom_ = source.files_with_bom();
    return collector.documents;
  }

  Documents read(const std::string& bytes, TextFormat format, DocumentBorder border = DocumentBorder::BlankLine) {
    return read({.input = {write(bytes)}, .format = format, .documents = border});
  }

  template <typename Exception = DataError>
  std::string error(const TextSourceOptions& options) {
    try {
      read(options);
    } catch (const Exception& failure) {
      return failure.what();
    }
    return "no error";
  }

  std::string error(const std::string& bytes, TextFormat format) {
    return error({.input = {write(bytes)}, .format = format});
  }

  TextFormat detected(const std::string& bytes) {
    read(bytes, TextFormat::Auto);
    return formats_.at(0).first;
  }

  TemporaryFolder folder_;
  TextCounts counts_;
  std::vector<std::pair<TextFormat, std::int64_t>> formats_;
  std::int64_t empty_files_ = 0;
  std::int64_t files_with_bom_ = 0;
};

TEST_F(TextSourceTest, SentencesAreLinesAndBlankLinesEndDocuments) {
  EXPECT_EQ(read("One. Two.\n three \n\n\n \t\nFour.", TextFormat::Sentences),
            (Documents{{"One. Two.", "three"}, {"Four."}}));
  EXPECT_EQ(counts_[TextCount::Lines], 6);
}

TEST_F(TextSourceTest, PlainParagraphsAreSplit) {
  EXPECT_EQ(read("It rains. We stay here.\nAn end.\n\nAnother text.\n", TextFormat::Plain),
            (Documents{{"It rains.", "We stay here.", "An end."}, {"Another text."}}));
}

TEST_F(TextSourceTest, WrappedLinesAreJoinedBeforeTheyAreSplit) {
  EXPECT_EQ(read("It rains\nall day. We\nstay here.\n\nAnother\ntext.", TextFormat::Wrapped),
            (Documents{{"It rains all day.", "We stay here."}, {"Another text."}}));
}

TEST_F(TextSourceTest, AFileCanBeADocumentWhatBlankLinesItHas) {
  const TextSourceOptions options{.input = {write("One.\n\nTwo\nthree.\n", "a"), write("Four.\n", "b")},
                                  .format = TextFormat::Wrapped,
                                  .documents = DocumentBorder::File};
  EXPECT_EQ(read(options), (Documents{{"One.", "Two three."}, {"Four."}}));
}

TEST_F(TextSourceTest, DocumentsDoNotReachOverFiles) {
  const TextSourceOptions options{.input = {write("One.", "a"), write("Two.\n", "b")}, .format = TextFormat::Sentences};
  EXPECT_EQ(read(options), (Documents{{"One."}, {"Two."}}));
}

TEST_F(TextSourceTest, JsonLinesAreDocuments) {
  EXPECT_EQ(read("{\"text\": \"One. Two is caf\\u00e9.\\n\\nThree.\", \"id\": 1}\n\n{\"id\": 2, \"text\": \" \"}\n"
                 "{\"text\": \"Four.\"}",
                 TextFormat::JsonLines),
            (Documents{{"One.", "Two is caf\xC3\xA9.", "Three."}, {"Four."}}));
  EXPECT_EQ(counts_[TextCount::EmptyDocuments], 1);
}

TEST_F(TextSourceTest, JsonTextMayLieInAnotherField) {
  TextSourceOptions options{.input = {write("{\"text\": 1, \"body\": \"One.\"}\n")}, .format = TextFormat::JsonLines};
  options.text_field = "body";
  EXPECT_EQ(read(options), (Documents{{"One."}}));
}

TEST_F(TextSourceTest, BadJsonLinesAreErrorsWithTheirPlace) {
  EXPECT_THAT(error("{\"text\": \"One.\"}\n{\"text\": \n", TextFormat::JsonLines), HasSubstr("text.txt:2"));
  EXPECT_THAT(error("{\"title\": \"a\", \"body\": \"b\"}\n", TextFormat::JsonLines),
              EndsWith("text.txt:1: no field 'text'; it has: title, body"));
  EXPECT_THAT(error("{\"text\": [1]}\n", TextFormat::JsonLines), EndsWith("field 'text' is array, not text"));
  EXPECT_THAT(error("3\n", TextFormat::JsonLines), HasSubstr("a JSON object was expected"));
  EXPECT_THAT(error("[\n{\"text\": \"One.\"}\n]\n", TextFormat::Auto), HasSubstr("text.txt:1: a JSON array"));
}

TEST_F(TextSourceTest, WikiExtractorDocumentsLoseTheirTitleLine) {
  EXPECT_EQ(read("<doc id=\"1\" url=\"u\" title=\"Rain\">\nRain\n\nRain falls. It is wet.\nRain\n</doc>\n\n"
                 "<doc id=\"2\" title=\"Empty\">\nEmpty\n\n</doc>\n<doc id=\"3\" title=\"x\">\nSnow.\n</doc>\n",
                 TextFormat::WikiExtractor),
            (Documents{{"Rain falls.", "It is wet.", "Rain"}, {"Snow."}}));
  EXPECT_EQ(counts_[TextCount::EmptyDocuments], 1);
}

TEST_F(TextSourceTest, BadWikiExtractorFilesAreErrorsWithTheirPlace) {
  EXPECT_THAT(error("Text.\n", TextFormat::WikiExtractor), HasSubstr("text.txt:1: text outside <doc>"));
  EXPECT_THAT(error("<doc id=\"1\">\n<doc id=\"2\">\n", TextFormat::WikiExtractor),
              HasSubstr("text.txt:2: <doc> inside"));
  EXPECT_THAT(error("</doc>\n", TextFormat::WikiExtractor), HasSubstr("text.txt:1: </doc> without"));
}

TEST_F(TextSourceTest, CarriageReturnsAndByteOrderMarksDisappearAndAreCounted) {
  EXPECT_EQ(read("\xEF\xBB\xBFOne.\r\n\r\nTwo.\r\nThree.\n", TextFormat::Sentences),
            (Documents{{"One."}, {"Two.", "Three."}}));
  EXPECT_EQ(counts_[TextCount::CrlfLines], 3);
  EXPECT_EQ(files_with_bom_, 1);
}

TEST_F(TextSourceTest, InvalidUtf8IsLeftOutAndCountedOrRefused) {
  const std::string text =
      "Good caf\xC3\xA9.\nBa\xFF\xC3"
      "d\xE2\x82.\n";
  EXPECT_EQ(read(text, TextFormat::Sentences), (Documents{{"Good caf\xC3\xA9.", "Bad."}}));
  EXPECT_EQ(counts_[TextCount::InvalidUtf8Lines], 1);
  EXPECT_EQ(counts_[TextCount::InvalidUtf8Bytes], 4);  // FF, C3, E2 and 82
  EXPECT_THAT(error({.input = {write(text)}, .format = TextFormat::Sentences, .invalid_utf8 = InvalidUtf8::Fail}),
              HasSubstr("text.txt:2: not UTF-8 at byte 3 of the line"));
}

TEST_F(TextSourceTest, BinaryFilesAndUtf16AreErrorsWithTheirPlace) {
  EXPECT_THAT(error(std::string("One.\nTw\0o.\n", 11), TextFormat::Sentences), HasSubstr("text.txt:2: a NUL byte"));
  EXPECT_THAT(error(std::string("\xFF\xFEO\0n\0", 6), TextFormat::Auto), HasSubstr("text.txt:1: UTF-16"));
  // Behind the sample that tells the format, too: 3,000 lines.
  std::string late;
  for (int i = 0; i < 3000; ++i) late += "One.\n";
  EXPECT_THAT(error(late + std::string("\0\n", 2), TextFormat::Sentences), HasSubstr("text.txt:3001: a NUL byte"));
}

TEST_F(TextSourceTest, AMegabyteLineIsOneSentence) {
  const std::string line(1 << 20, 'x');
  const Documents documents = read("One.\n" + line + "\n\nTwo.\n", TextFormat::Sentences);
  ASSERT_EQ(documents.size(), 2U);
  ASSERT_EQ(documents[0].size(), 2U);
  EXPECT_TRUE(documents[0][1] == line);  // not EQ: it would print both
  EXPECT_THAT(documents[1], ElementsAre("Two."));
}

TEST_F(TextSourceTest, EmptyFilesGiveNothingAndAreCounted) {
  EXPECT_EQ(read({.input = {write("", "a"), write("\n \n\n", "b"), write("One.\n", "c")}}), (Documents{{"One."}}));
  EXPECT_EQ(empty_files_, 2);
}

TEST_F(TextSourceTest, FormatsAreToldFromTheFirstLines) {
  EXPECT_EQ(detected("\n{\"text\": \"One.\"}\n"), TextFormat::JsonLines);
  EXPECT_EQ(detected("<doc id=\"1\" title=\"x\">\nOne.\n</doc>\n"), TextFormat::WikiExtractor);
  EXPECT_EQ(detected("A cat sat.\nIt was there for a long time.\n\nNo.\n"), TextFormat::Sentences);
  EXPECT_EQ(detected("A cat sat. It was there for a long time.\nNo. Yes.\n"), TextFormat::Plain);
  // Lines of 40, 38, 39, 37 and 9 bytes: four followed ones, all at least 30 long.
  EXPECT_EQ(detected("It was a day of rain and the cat, which \nhad been there for a very long time, \n"
                     "did not want to leave the house again. \nNobody else wanted to leave it either\nthat day.\n"),
            TextFormat::Wrapped);
  // Lines of one length that end sentences are not wrapped.
  EXPECT_EQ(detected("It was a day of rain. The cat was there.\nIt was a day of snow. The cat was gone.\n"
                     "It was a day of wind. The cat was back.\nIt was a day of ice. The cat was cold.\nNo. Yes.\n"),
            TextFormat::Plain);
}

TEST_F(TextSourceTest, EachFileHasItsOwnFormat) {
  EXPECT_EQ(read({.input = {write("{\"text\": \"One. Two.\"}\n", "a"), write("Three.\n", "b"), write("Four.\n", "c")}}),
            (Documents{{"One.", "Two."}, {"Three."}, {"Four."}}));
  EXPECT_THAT(formats_, ElementsAre(std::pair(TextFormat::JsonLines, 1), std::pair(TextFormat::Sentences, 2)));
}

TEST_F(TextSourceTest, DocumentBordersOfOneKindDoNotApplyToOthers) {
  EXPECT_THAT(error<ConfigError>({.input = {write("{\"text\": \"a\"}\n")}, .documents = DocumentBorder::File}),
              HasSubstr("documents=file does not apply"));
}

// The cut between chunks must change nothing, wherever it falls.
TEST_F(TextSourceTest, SentencesDoNotDependOnTheChunkSize) {
  std::string lines, json, wiki;
  for (int d = 0; d < 40; ++d) {
    wiki += "<doc id=\"1\" title=\"t\">\nt\n\n";
    std::string text;
    for (int s = 0; s <= d % 7; ++s) text += fmt::format("Sentence {} {}. Yes!\n", d, s);
    lines += text + (d % 3 == 0 ? "\n\n" : "\n");
    wiki += text + "</doc>\n";
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "\\n");
    json += "{\"text\": \"" + text + "\"}\n";
  }
  for (const auto& [bytes, format] :
       {std::pair(lines, TextFormat::Sentences), std::pair(lines, TextFormat::Plain),
        std::pair(json, TextFormat::JsonLines), std::pair(wiki, TextFormat::WikiExtractor)}) {
    const TextSourceOptions options{.input = {write(bytes)}, .format = format};
    const Documents whole = read(options);
    EXPECT_EQ(whole.size(), 40U);
    for (const std::size_t chunk_bytes : {1, 10, 33, 100, 1000}) EXPECT_EQ(read(options, chunk_bytes), whole);
  }
}

TEST_F(TextSourceTest, WrappedTextIsCutInsideADocumentOnlyBehindASentence) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "These words\nbelong together.\n";
  const TextSourceOptions options{.input = {write(text)}, .format = TextFormat::Wrapped};
  EXPECT_EQ(read(options, 16), (Documents{std::vector<std::string>(50, "These words belong together.")}));
}

TEST_F(TextSourceTest, FoldersAreReadSortedAndOnlyText) {
  write("b", "in/b.txt");
  write("a", "in/sub/a.jsonl.gz");
  write("c", "in/c");
  write("x", "in/table.tsv");
  write("x", "in/.hidden.txt");
  write("x", "in/.git/config");
  write("x", "in/shards/manifest.json");
  write("x", "in/shards/00000.shard");
  write("x", "in/shards/tokenizer/vocab.txt");
  const InputFiles found = expand_inputs({(folder_.path() / "in").string()});
  EXPECT_THAT(found.files, ElementsAre(EndsWith("in/b.txt"), EndsWith("in/c"), EndsWith("in/sub/a.jsonl.gz")));
  EXPECT_EQ(found.bytes, 3U);
  EXPECT_EQ(found.skipped, 1);
  EXPECT_THAT(found.first_skipped, EndsWith("table.tsv"));
}

TEST_F(TextSourceTest, PatternsGiveTheirMatchesSorted) {
  write("", "p-2.txt");
  write("", "p-1.txt");
  write("", "q-1.txt");
  const std::string base = folder_.path().string();
  EXPECT_THAT(expand_inputs({base + "/p-*.txt"}).files, ElementsAre(EndsWith("p-1.txt"), EndsWith("p-2.txt")));
  EXPECT_THROW(expand_inputs({base + "/z*"}), DataError);
}

TEST_F(TextSourceTest, MissingRepeatedAndEmptyInputsAreErrors) {
  const std::string file = write("One.");
  std::filesystem::create_directory(folder_.path() / "empty");
  EXPECT_THROW(expand_inputs({}), ConfigError);
  EXPECT_THROW(expand_inputs({file, file}), ConfigError);
  EXPECT_THROW(expand_inputs({folder_.path().string(), file}), ConfigError);
  EXPECT_THAT(error({.input = {(folder_.path() / "none.txt").string()}}),
              AllOf(HasSubstr("none.txt"), HasSubstr("no such file")));
  EXPECT_THAT(error({.input = {(folder_.path() / "empty").string()}}), HasSubstr("no text in this folder"));
}

}  // namespace
}  // namespace eflops::data
