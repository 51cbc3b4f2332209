#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/options.h"

namespace eflops::checkpoint {

/// The two functions both called GELU: `gelu` (erf) and `gelu_new` (tanh), as Hugging Face names them.
enum class Activation { Gelu, GeluNew };

/// `config.json` of a BERT directory under Hugging Face's keys; the defaults are those of BERT base, uncased.
struct BertConfig {
  std::string architecture = "BertForPreTraining";
  std::int64_t vocab_size = 30522;  ///< rows of the word embedding
  std::int64_t hidden_size = 768;
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;
  std::int64_t pad_token_id = 0;
  Activation hidden_act = Activation::Gelu;
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;
  std::map<std::string, std::string> eflops = {};  ///< ours alone, under the key "eflops": other readers ignore it
};

/// Writes `folder/config.json`.
void write_bert_config(const std::filesystem::path& folder, const BertConfig& config);

/// Reads `folder/config.json`. The sizes must be there; the other keys have Hugging Face's defaults and unknown ones
/// are ignored. DataError names file, key and value: another model type, relative positions, a decoder, a size below 1,
/// a width that the heads do not divide.
BertConfig read_bert_config(const std::filesystem::path& folder);

/// How like the stored model must be.
enum class Likeness {
  SameRun,   ///< to resume: architecture, every size, activation, epsilon
  SameBody,  ///< to initialise from it: sizes of the encoder; heads may differ, and the vocabulary may be padded
};

/// DataError naming the key and both values at the first difference; `where` names the stored one.
void require_like(const BertConfig& stored, const BertConfig& wanted, Likeness likeness, std::string_view where);

/// An embedding may have rows beyond its vocabulary so that their number divides by 8 (30522 becomes 30528); such rows
/// are never predicted. DataError naming both sizes for a vocabulary larger than the embedding, or when the embedding
/// is more than such padding (up to a multiple of 128) larger.
void check_vocabulary_fits(std::int64_t embedding_rows, std::int64_t vocabulary_size, std::string_view where);

/// `tokenizer_config.json` under Hugging Face's keys.
struct TokenizerConfig {
  std::string tokenizer_class = "BertTokenizer";
  bool do_lower_case = true;
  bool tokenize_chinese_chars = true;
  std::optional<bool> strip_accents = std::nullopt;  ///< none: as do_lower_case
  std::int64_t model_max_length = 512;
  std::map<std::string, std::string> eflops = {};
};

void write_tokenizer_config(const std::filesystem::path& folder, const TokenizerConfig& config);

/// None where the folder has no tokenizer_config.json, as old BERT directories; DataError for one that is wrong.
std::optional<TokenizerConfig> read_tokenizer_config(const std::filesystem::path& folder);

/// Copies a file (vocab.txt, a SentencePiece model) to `folder/name`.
void copy_into(const std::filesystem::path& folder, const std::filesystem::path& source, std::string_view name);

}  // namespace eflops::checkpoint

template <>
struct eflops::Choices<eflops::checkpoint::Activation> {
  static constexpr std::pair<checkpoint::Activation, std::string_view> kEntries[] = {
      {checkpoint::Activation::Gelu, "gelu"}, {checkpoint::Activation::GeluNew, "gelu_new"}};
};
