#include "text/tokenizer.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"

namespace eflops::text {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kUncased = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncafe\n##s\n";
constexpr const char* kCased = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nCaf\u00e9\n##s\n";

class TokenizerFolder : public ::testing::Test {
 protected:
  fs::path put(const std::string& name, std::string_view bytes) {
    write_file_atomically(folder_.path() / name, bytes);
    return folder_.path() / name;
  }
  std::unique_ptr<Tokenizer> load(TokenizerOptions options = {}) {
    if (options.vocabulary.empty()) options.vocabulary = folder_.path().string();
    return load_tokenizer(options);
  }
  template <typename Expected>
  std::string refusal(const TokenizerOptions& options = {}) {
    try {
      load(options);
    } catch (const Expected& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

TEST_F(TokenizerFolder, TellsCaseFromThePieces) {
  const fs::path uncased = put("uncased.txt", kUncased);
  const fs::path cased = put("cased.txt", kCased);
  EXPECT_THAT(load({.vocabulary = uncased.string()})->description(),
              HasSubstr("wordpiece uncased google limit 100, 8 pieces"));
  EXPECT_THAT(load({.vocabulary = cased.string()})->description(),
              HasSubstr("wordpiece cased google limit 100, 8 pieces"));
}

TEST_F(TokenizerFolder, ReadsTheFoldersConfiguration) {
  put("vocab.txt", kUncased);
  put("tokenizer_config.json",
      R"({"do_lower_case": false, "strip_accents": true, "tokenize_chinese_chars": false, "max_input_chars_per_word": 200,
          "eflops_compat": "hf", "model_max_length": 512})");
  EXPECT_THAT(load()->description(), HasSubstr("wordpiece cased hf limit 200 accents stripped ideographs joined"));
}

TEST_F(TokenizerFolder, NullsInTheConfigurationSayNothing) {
  put("vocab.txt", kUncased);
  put("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": null})");
  EXPECT_THAT(load()->description(), HasSubstr("wordpiece uncased google limit 100,"));
}

TEST_F(TokenizerFolder, OptionsWinOverTheConfiguration) {
  put("vocab.txt", kUncased);
  put("tokenizer_config.json", R"({"do_lower_case": false, "max_input_chars_per_word": 200, "eflops_compat": "hf"})");
  const auto tokenizer = load({.lower_case = Casing::Uncased,
                               .compat = Compat::Google,
                               .max_word_chars = 50,
                               .strip_accents = StripAccents::No});
  EXPECT_THAT(tokenizer->description(), HasSubstr("wordpiece uncased google limit 50 accents kept"));
}

TEST_F(TokenizerFolder, StoredFilesGiveAnEqualTokenizer) {
  const fs::path vocabulary = put("v.txt", kCased);
  const auto original = load({.vocabulary = vocabulary.string(), .compat = Compat::HuggingFace, .max_word_chars = 200});
  fs::create_directory(folder_.path() / "stored");
  for (const NamedFile& file : tokenizer_files(*original)) put("stored/" + file.name, file.bytes);
  const auto again = load({.vocabulary = (folder_.path() / "stored").string()});
  EXPECT_EQ(again->hash(), original->hash());
  EXPECT_EQ(again->description(), original->description());
}

TEST_F(TokenizerFolder, RefusesAMistypedConfiguration) {
  put("vocab.txt", kUncased);
  put("tokenizer_config.json", R"({"do_lower_case": "yes"})");
  EXPECT_THAT(refusal<DataError>(), HasSubstr("do_lower_case is \"yes\""));
  put("tokenizer_config.json", R"({"eflops_compat": "bert"})");
  EXPECT_THAT(refusal<DataError>(), HasSubstr("eflops_compat 'bert' is neither google nor hf"));
  put("tokenizer_config.json", "[1]");
  EXPECT_THAT(refusal<DataError>(), HasSubstr("not a JSON object"));
  put("tokenizer_config.json", R"({"max_input_chars_per_word": -1})");
  EXPECT_THAT(refusal<ConfigError>(), HasSubstr("max_word_chars is -1"));
}

TEST_F(TokenizerFolder, SaysWhatAFolderShouldHold) {
  EXPECT_THAT(refusal<ConfigError>(), HasSubstr("holds no vocab.txt and no *.model files"));
  EXPECT_THAT(refusal<ConfigError>({.vocabulary = "/nowhere/at/all"}), HasSubstr("no such file or folder"));
  EXPECT_THROW(load_tokenizer({}), ConfigError);
}

TEST_F(TokenizerFolder, RefusesAVocabularyWithoutSpecials) {
  put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n");
  EXPECT_THAT(refusal<DataError>(), HasSubstr("vocab.txt: a WordPiece vocabulary needs [PAD] [UNK] [CLS] [SEP] [MASK]; "
                                              "missing: [MASK]"));
}

TEST_F(TokenizerFolder, RefusesAModelThatIsNone) {
  const fs::path model = put("x.model", "not a protocol buffer");
  EXPECT_THAT(refusal<DataError>(), HasSubstr("not a SentencePiece model"));
  EXPECT_THAT(refusal<ConfigError>({.vocabulary = model.string(), .lower_case = Casing::Cased}),
              HasSubstr("do not apply to"));
}

TEST_F(TokenizerFolder, AWordPieceTokenizerServesPretraining) {
  put("vocab.txt", kUncased);
  EXPECT_NO_THROW(require_pretraining_specials(*load()));
}

TEST(TokenizerOptions, AnUnknownChoiceIsRefused) {
  TokenizerOptions options;
  assign(OptionSet(options), {"compat", {"hf"}, false, "test"});
  EXPECT_EQ(options.compat, Compat::HuggingFace);
  EXPECT_THROW(assign(OptionSet(options), {"compat", {"bert"}, false, "test"}), ConfigError);
}

}  // namespace
}  // namespace eflops::text
