#include "data/objective_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace eflops::data {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<text::Tokenizer> tokenizer(const std::string& pieces) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "vocab.txt", pieces);
  text::TokenizerOptions options;
  options.vocabulary = (folder.path() / "vocab.txt").string();
  return text::load_tokenizer(options);
}

TEST(TokenRules, TellTextFromSpecialAndUnusedPieces) {
  const auto words = tokenizer("[PAD]\n[unused0]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ncat\n##s\n");
  const TokenRules rules = token_rules(*words);
  EXPECT_EQ(rules.cls, 3);
  EXPECT_EQ(rules.sep, 4);
  EXPECT_EQ(rules.mask, 5);
  EXPECT_EQ(rules.vocabulary_size, 8);
  // An unknown word is text: it may be masked and shuffled, but is no useful replacement.
  EXPECT_THAT(rules.fixed, ElementsAre(true, false, false, true, true, true, false, false));
  EXPECT_THAT(rules.ordinary, ElementsAre(6, 7));
  EXPECT_THAT(rules.continues_word, ElementsAre(false, false, false, false, false, false, false, true));
}

TEST(TokenRules, NeedTheSpecialPieces) {
  EXPECT_THROW(token_rules(*tokenizer("[PAD]\n[UNK]\n[CLS]\n[SEP]\ncat\n")), DataError);  // no [MASK]
}

}  // namespace
}  // namespace eflops::data
