#include "text/sentence_splitter.h"

#include <gmock/gmock.h>

#include <string>

namespace eflops::text {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

/// Each case is a paragraph with | between its sentences; the blank behind | belongs to the paragraph.
void expect_cuts(std::initializer_list<const char*> cases) {
  for (const std::string marked : cases) {
    std::vector<std::string> expected(1);
    std::string paragraph;
    for (const char c : marked) {
      if (c == '|') {
        expected.emplace_back();
        continue;
      }
      paragraph += c;
      if (c != ' ' || !expected.back().empty()) expected.back() += c;
    }
    EXPECT_THAT(split_sentences(paragraph), ElementsAreArray(expected)) << marked;
  }
}

TEST(SentenceSplitter, CutsBehindEndMarks) {
  expect_cuts({"It rained.| We left!| Why?| Nobody knows.", "One sentence without an end", "What?!| No."});
}

TEST(SentenceSplitter, NeedsASentenceToBegin) {
  expect_cuts({"He said \"Stop!\" and left.", "approx. five of them.", "The .net runtime and 3.14 and a.b are whole.",
               "It ended in 1990.| 2000 people came."});
}

TEST(SentenceSplitter, TitlesEndNothing) {
  expect_cuts({"Mr. Smith met Mrs. Jones and Dr. Who.| They spoke.", "We saw Gen. Grant, i.e. Ulysses, at St. Mary.",
               "a bachelor--Mr. Lydgate", "(Mr. Smith) came.", "Roe v. Wade was decided."});
}

TEST(SentenceSplitter, NumberedThingsGoOnBeforeANumberOnly) {
  expect_cuts({"See Fig. 3 and No. 5 on pp. 7 of Vol. 2.| Then stop.", "Did he?| No.| He did not.",
               "On Jan. 5 it froze.| In Jan.| It thawed."});
}

TEST(SentenceSplitter, InitialsAndCompaniesEndSentencesBeforeUsualFirstWordsOnly) {
  expect_cuts({"J. R. R. Tolkien wrote.", "He moved to the U.S. Army base.",
               "He moved to the U.S.| The base was small.", "Apple Inc. Chairman spoke.",
               "He joined Apple Inc.| He left.", "At 5 p.m. Monday it closed.", "World War I.| The next began.",
               "J.-P. Sartre wrote.", "Smith et al. (2003) found it."});
}

TEST(SentenceSplitter, ANumberedHeadingGoesWithItsText) {
  expect_cuts({"1. Introduction is here.| 2. Methods follow.", "There were 2.| Three came later."});
}

TEST(SentenceSplitter, ClosingQuotesAndBracketsStayWithTheirSentence) {
  expect_cuts({"\"Stop!\"| He ran.", "(It was late.)| We slept.", "\u201cYes.\u201d| \u201cNo.\u201d",
               "He said: 'Go.'| She went.", "She asked, \"Why?\"| \"Because,\" he said."});
}

TEST(SentenceSplitter, Ellipses) {
  expect_cuts({"Well... I think so.", "Wait...| What was that?", "And so on . . .| The end.", "Then\u2026| Nothing.",
               "to be... or not."});
}

TEST(SentenceSplitter, CjkFullStopsNeedNoBlank) {
  EXPECT_THAT(split_sentences("\u4f60\u597d\u3002\u518d\u89c1\uff01"),
              ElementsAre("\u4f60\u597d\u3002", "\u518d\u89c1\uff01"));
}

TEST(SentenceSplitter, TokenisedTextWithBlanksBeforeItsMarks) {
  expect_cuts({"It was built in 1930 .| The walls are thick .", "Mr. Smith was there ."});
}

TEST(SentenceSplitter, GivesViewsIntoTheParagraphWithoutOuterSpace) {
  const std::string paragraph = "  First one. \t Second\u00a0one.\u00a0\n";
  const auto sentences = split_sentences(paragraph);
  ASSERT_THAT(sentences, ElementsAre("First one.", "Second\u00a0one."));
  EXPECT_EQ(sentences[0].data() - paragraph.data(), 2);
  EXPECT_EQ(sentences[1].data() - paragraph.data(), 15);  // 2 + 10 + 3
}

TEST(SentenceSplitter, NothingInNothingOut) {
  EXPECT_THAT(split_sentences(""), IsEmpty());
  EXPECT_THAT(split_sentences(" \n\t\u3000"), IsEmpty());
  EXPECT_THAT(split_sentences("..."), ElementsAre("..."));
}

TEST(SentenceSplitter, SurvivesInvalidBytesAndMegabytes) {
  EXPECT_THAT(split_sentences("A\xFF. B\xE2\x80"), ElementsAre("A\xFF.", "B\xE2\x80"));
  std::string long_line;
  for (int i = 0; i < 200'000; ++i) long_line += "Mr. ";
  EXPECT_EQ(split_sentences(long_line).size(), 1u);
}

}  // namespace
}  // namespace eflops::text
