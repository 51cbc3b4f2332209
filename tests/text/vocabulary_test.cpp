#include "text/vocabulary.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"

namespace eflops::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(std::string_view bytes) {
  try {
    parse_vocabulary(bytes, "v.txt");
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Vocabulary, OnePieceALineWithOrWithoutTheLastLineEnd) {
  EXPECT_THAT(parse_vocabulary("a\n##b\n", "v.txt"), ElementsAre("a", "##b"));
  EXPECT_THAT(parse_vocabulary("a\n##b", "v.txt"), ElementsAre("a", "##b"));
}

TEST(Vocabulary, RefusesAnEmptyFile) { EXPECT_THAT(refusal(""), HasSubstr("v.txt: empty")); }

TEST(Vocabulary, RefusesCrLfLineEnds) { EXPECT_THAT(refusal("a\nb\r\n"), HasSubstr("v.txt:2: CRLF")); }

TEST(Vocabulary, RefusesAByteOrderMark) {
  EXPECT_THAT(refusal("\xEF\xBB\xBF"
                      "a\n"),
              HasSubstr("v.txt:1: starts with"));
}

TEST(Vocabulary, RefusesInvalidUtf8AndNamesTheByte) {
  EXPECT_THAT(refusal("a\nbc\xFF\n"), HasSubstr("v.txt:2: byte 0xFF at column 3"));
}

TEST(Vocabulary, RefusesAPieceThatStandsTwiceAndNamesBothLines) {
  EXPECT_THAT(refusal("a\nb\nc\nb\n"), HasSubstr("v.txt:4: piece 'b' stands on line 2 already"));
}

TEST(Vocabulary, RefusesEmptyLinesAndColumns) {
  EXPECT_THAT(refusal("a\n\nb\n"), HasSubstr("v.txt:2: empty line"));
  EXPECT_THAT(refusal("a\nb\t17\n"), HasSubstr("v.txt:2: 'b\t17' holds a blank or a tab"));
}

TEST(Vocabulary, NamesTheFileItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_vocabulary(folder.path() / "absent.txt"), DataError);
}

TEST(Vocabulary, ListsTheSpecialsThatAreMissing) {
  const std::vector<std::string> pieces = {"[PAD]", "[UNK]", "[SEP]", "a"};
  try {
    find_specials(pieces, "v.txt");
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing: [CLS] [MASK]"));
  }
}

TEST(Vocabulary, IsCasedIfLowerCasingWouldChangeAPiece) {
  EXPECT_FALSE(
      is_cased(std::vector<std::string>{"[PAD]", "[unused1]", "a", "##b", "\u211d"}));  // U+211D has no lower case
  EXPECT_TRUE(is_cased(std::vector<std::string>{"a", "##\u00c9"}));
}

TEST(Vocabulary, WritesWhatItReads) {
  const std::vector<std::string> pieces = {"[PAD]", "a", "##\u4e2d"};
  EXPECT_EQ(parse_vocabulary(vocabulary_text(pieces), "v.txt"), pieces);
}

}  // namespace
}  // namespace eflops::text
