#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "tests/support/data_folder.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace eflops::text {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;

Ids encode_ids(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  tokenizer.encode_ids(text, ids);
  return ids;
}

std::vector<std::string> read_lines(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Ids parse_ids(const std::string& line) {
  std::istringstream stream(line);
  Ids ids;
  for (std::int32_t id; stream >> id;) ids.push_back(id);
  return ids;
}

TEST(ReferenceData, PublishedBertEncodings) {
  EFLOPS_NEED_DATA(data);
  const Json file = parse_json(read_file(data / "vocab" / "expected_bert_tokens.json"), "expected_bert_tokens.json");
  int checked = 0;
  for (const Json& one : file.at("cases")) {
    const bool never_split = !one.at("never_split").empty();
    const auto text = one.at("text").get<std::string>();
    // never_split holds [UNK] and [CLS], which Hugging Face's order keeps whole too; it would also keep [SEP].
    if (never_split && text.find("[SEP]") != std::string::npos) continue;
    const bool lower = one.at("do_lower_case").get<bool>();
    const auto tokenizer = load_tokenizer({.vocabulary = (data / "vocab" / one.at("vocab").get<std::string>()).string(),
                                           .lower_case = lower ? Casing::Uncased : Casing::Cased,
                                           .compat = never_split ? Compat::HuggingFace : Compat::Google});
    EXPECT_EQ(encode_ids(*tokenizer, text), one.at("ids").get<Ids>()) << text;
    ++checked;
  }
  EXPECT_EQ(checked, 26);  // 7 texts, cased and uncased, with and without never_split, less 2
}

TEST(ReferenceData, HuggingFaceEncodingsOfTrickyTexts) {
  EFLOPS_NEED_DATA(data);
  const std::string inputs = read_file(data / "vocab" / "llama_cpp_bert_bge.inp");
  const std::vector<std::string> outputs = read_lines(data / "vocab" / "llama_cpp_bert_bge.out");
  const auto tokenizer = load_tokenizer(
      {.vocabulary = (data / "vocab" / "bert-base-uncased-vocab.txt").string(), .compat = Compat::HuggingFace});
  const std::string border = "\n__ggml_vocab_test__\n";
  std::size_t begin = 0;
  std::size_t checked = 0;
  for (std::size_t end; (end = inputs.find(border, begin)) != std::string::npos; begin = end + border.size()) {
    const std::string text = inputs.substr(begin, end - begin);
    ASSERT_LT(checked, outputs.size());
    EXPECT_EQ(encode_ids(*tokenizer, text), parse_ids(outputs[checked])) << text;
    ++checked;
  }
  EXPECT_EQ(checked, 46u);
}

class SentencePieceReference : public ::testing::TestWithParam<const char*> {};

TEST_P(SentencePieceReference, GivesTheIdsAndPiecesOfSpmEncode) {
  EFLOPS_NEED_DATA(data);
  const fs::path reference = data / "spm" / "reference";
  const std::string model = GetParam();
  const auto tokenizer = load_tokenizer({.vocabulary = (data / "spm" / (model + ".model")).string()});
  const auto inputs = read_lines(reference / "input.txt");
  const auto ids = read_lines(reference / (model + ".ids"));
  const auto pieces = read_lines(reference / (model + ".pieces"));
  ASSERT_EQ(inputs.size(), 511u);
  ASSERT_EQ(ids.size(), inputs.size());
  ASSERT_EQ(pieces.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Ids got = encode_ids(*tokenizer, inputs[i]);
    ASSERT_EQ(got, parse_ids(ids[i])) << "line " << i + 1;
    std::vector<Token> tokens;
    tokenizer->encode(inputs[i], tokens);
    ASSERT_EQ(tokens.size(), got.size());
    std::string joined;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      EXPECT_EQ(tokens[k].id, got[k]);
      EXPECT_LE(tokens[k].end, count_code_points(inputs[i]));
      // An unknown piece is written as the text it stands for, which the vocabulary does not hold.
      if (tokens[k].id != tokenizer->specials().unknown) joined += std::string(tokenizer->piece(tokens[k].id)) + " ";
    }
    if (joined.empty() || std::count(got.begin(), got.end(), tokenizer->specials().unknown) > 0) continue;
    joined.pop_back();
    EXPECT_EQ(joined, pieces[i]) << "line " << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SentencePieceReference,
                         ::testing::Values("t5_base", "torchtext_spm_example", "test_model", "test_ja_model",
                                           "seqio_sentencepiece"));

TEST(ReferenceData, BothWaysOfEncodingRealTextAgree) {
  EFLOPS_NEED_DATA(data);
  for (const char* vocabulary : {"bert-base-uncased-vocab.txt", "bert-base-cased-vocab.txt"}) {
    for (const Compat compat : {Compat::Google, Compat::HuggingFace}) {
      const auto tokenizer = load_tokenizer({.vocabulary = (data / "vocab" / vocabulary).string(), .compat = compat});
      for (const char* name : {"spm/reference/input.txt", "spm/botchan.txt", "glue/RTE/dev.tsv", "glue/QNLI/dev.tsv"}) {
        for (const std::string& line : read_lines(data / name)) {
          Ids ids;
          tokenizer->encode_ids(line, ids);
          std::vector<Token> tokens;
          tokenizer->encode(line, tokens);
          ASSERT_EQ(ids.size(), tokens.size()) << name << ": " << line;
          for (std::size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(ids[i], tokens[i].id) << name << ": " << line;
          for (std::size_t i = 0; i < tokens.size(); ++i) ASSERT_LT(tokens[i].begin, tokens[i].end);
        }
      }
    }
  }
}

TEST(ReferenceData, OffsetsOfRealTextNameTheSameLetters) {
  EFLOPS_NEED_DATA(data);
  const auto tokenizer = load_tokenizer({.vocabulary = (data / "vocab" / "bert-base-cased-vocab.txt").string()});
  for (const std::string& line : read_lines(data / "glue/RTE/dev.tsv")) {
    std::vector<std::size_t> byte_of;  // of each code point, and the end
    for (std::size_t at = 0; at < line.size(); at += read_utf8(line, at).bytes) byte_of.push_back(at);
    byte_of.push_back(line.size());
    std::vector<Token> tokens;
    tokenizer->encode(line, tokens);
    for (const Token& token : tokens) {
      if (tokenizer->is_special(token.id)) continue;
      std::string_view piece = tokenizer->piece(token.id);
      if (tokenizer->continues_word(token.id)) piece.remove_prefix(2);
      // Cased text is not changed but for deleted characters, which RTE has none of.
      EXPECT_EQ(line.substr(byte_of[token.begin], byte_of[token.end] - byte_of[token.begin]), piece);
    }
  }
}

}  // namespace
}  // namespace eflops::text
