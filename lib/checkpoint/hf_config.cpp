#include "checkpoint/hf_config.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "checkpoint/json_fields.h"

namespace eflops::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr const char* kConfigName = "config.json";
constexpr const char* kTokenizerConfigName = "tokenizer_config.json";
constexpr const char* kExtras = "eflops";
constexpr std::int64_t kPaddingQuantum = 8;
constexpr std::int64_t kLargestPaddingQuantum = 128;

struct SizeKey {
  const char* key;
  std::int64_t BertConfig::*member;
};

/// The sizes that make the encoder; vocabulary apart.
constexpr std::array kBodySizes = {SizeKey{"hidden_size", &BertConfig::hidden_size},
                                   SizeKey{"num_hidden_layers", &BertConfig::num_hidden_layers},
                                   SizeKey{"num_attention_heads", &BertConfig::num_attention_heads},
                                   SizeKey{"intermediate_size", &BertConfig::intermediate_size},
                                   SizeKey{"max_position_embeddings", &BertConfig::max_position_embeddings},
                                   SizeKey{"type_vocab_size", &BertConfig::type_vocab_size}};

void write_json(const fs::path& file, const Json& json) { write_file_atomically(file, json.dump(2) + '\n'); }

Activation read_activation(const JsonFields& fields) {
  const std::string name = fields.text("hidden_act");
  if (name == "gelu" || name == "gelu_python") return Activation::Gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::GeluNew;
  fields.refuse("hidden_act", "gelu or gelu_new");
}

/// What would make it another model than the one we compute.
void refuse_other_models(const JsonFields& fields) {
  if (fields.has("model_type") && fields.text("model_type") != "bert") fields.refuse("model_type", "bert");
  if (fields.has("position_embedding_type") && fields.text("position_embedding_type") != "absolute")
    fields.refuse("position_embedding_type", "absolute");
  for (const char* key : {"is_decoder", "add_cross_attention"})
    if (fields.has(key) && fields.boolean(key)) fields.refuse(key, "false");
}

template <typename Value>
void require_equal(std::string_view where, std::string_view key, const Value& stored, const Value& wanted) {
  if (stored != wanted) throw DataError("{}: {} is {}, this run has {}", where, key, stored, wanted);
}

}  // namespace

void write_bert_config(const fs::path& folder, const BertConfig& config) {
  Json json = {{"architectures", {config.architecture}},
               {"model_type", "bert"},
               {"attention_probs_dropout_prob", config.attention_probs_dropout_prob},
               {"hidden_act", choice_name(config.hidden_act)},
               {"hidden_dropout_prob", config.hidden_dropout_prob},
               {"hidden_size", config.hidden_size},
               {"initializer_range", config.initializer_range},
               {"intermediate_size", config.intermediate_size},
               {"layer_norm_eps", config.layer_norm_eps},
               {"max_position_embeddings", config.max_position_embeddings},
               {"num_attention_heads", config.num_attention_heads},
               {"num_hidden_layers", config.num_hidden_layers},
               {"pad_token_id", config.pad_token_id},
               {"position_embedding_type", "absolute"},
               {"torch_dtype", "float32"},
               {"type_vocab_size", config.type_vocab_size},
               {"vocab_size", config.vocab_size}};
  if (!config.eflops.empty()) json[kExtras] = config.eflops;
  write_json(folder / kConfigName, json);
}

BertConfig read_bert_config(const fs::path& folder) {
  const JsonFields fields(folder / kConfigName);
  refuse_other_models(fields);
  BertConfig config;
  if (fields.has("architectures")) config.architecture = fields.first_text("architectures");
  config.vocab_size = fields.integer("vocab_size", 1);
  for (const SizeKey& size : kBodySizes) config.*size.member = fields.integer(size.key, 1);
  if (config.hidden_size % config.num_attention_heads != 0)
    fields.refuse("hidden_size", fmt::format("a multiple of num_attention_heads {}", config.num_attention_heads));
  if (fields.has("pad_token_id")) config.pad_token_id = fields.integer("pad_token_id", 0);
  if (fields.has("hidden_act")) config.hidden_act = read_activation(fields);
  const auto optional_number = [&](const char* key, double& value, double max) {
    if (fields.has(key)) value = fields.number(key, 0, max);
  };
  optional_number("hidden_dropout_prob", config.hidden_dropout_prob, 1);
  optional_number("attention_probs_dropout_prob", config.attention_probs_dropout_prob, 1);
  optional_number("initializer_range", config.initializer_range, 10);
  optional_number("layer_norm_eps", config.layer_norm_eps, 1);
  if (fields.has(kExtras)) config.eflops = fields.text_map(kExtras);
  return config;
}

void require_like(const BertConfig& stored, const BertConfig& wanted, Likeness likeness, std::string_view where) {
  for (const SizeKey& size : kBodySizes) require_equal(where, size.key, stored.*size.member, wanted.*size.member);
  require_equal(where, "hidden_act", choice_name(stored.hidden_act), choice_name(wanted.hidden_act));
  if (likeness == Likeness::SameBody) {
    check_vocabulary_fits(stored.vocab_size, wanted.vocab_size, where);
    return;
  }
  require_equal(where, "architecture", stored.architecture, wanted.architecture);
  require_equal(where, "vocab_size", stored.vocab_size, wanted.vocab_size);
  require_equal(where, "layer_norm_eps", stored.layer_norm_eps, wanted.layer_norm_eps);
}

void check_vocabulary_fits(std::int64_t embedding_rows, std::int64_t vocabulary_size, std::string_view where) {
  const std::int64_t spare = embedding_rows - vocabulary_size;
  if (spare < 0)
    throw DataError("{}: the vocabulary has {} entries, the embedding only {} rows", where, vocabulary_size,
                    embedding_rows);
  if (spare > 0 && (spare >= kLargestPaddingQuantum || embedding_rows % kPaddingQuantum != 0))
    throw DataError("{}: the embedding has {} rows, the vocabulary {} entries, and the difference is not padding",
                    where, embedding_rows, vocabulary_size);
}

void write_tokenizer_config(const fs::path& folder, const TokenizerConfig& config) {
  Json json = {{"tokenizer_class", config.tokenizer_class},
               {"do_lower_case", config.do_lower_case},
               {"model_max_length", config.model_max_length},
               {"strip_accents", nullptr},
               {"tokenize_chinese_chars", config.tokenize_chinese_chars}};
  if (config.strip_accents) json["strip_accents"] = *config.strip_accents;
  if (!config.eflops.empty()) json[kExtras] = config.eflops;
  write_json(folder / kTokenizerConfigName, json);
}

std::optional<TokenizerConfig> read_tokenizer_config(const fs::path& folder) {
  std::error_code failed;
  if (!fs::exists(folder / kTokenizerConfigName, failed) && !failed) return std::nullopt;
  const JsonFields fields(folder / kTokenizerConfigName);
  TokenizerConfig config;
  if (fields.has("tokenizer_class")) config.tokenizer_class = fields.text("tokenizer_class");
  if (fields.has("do_lower_case")) config.do_lower_case = fields.boolean("do_lower_case");
  if (fields.has("tokenize_chinese_chars")) config.tokenize_chinese_chars = fields.boolean("tokenize_chinese_chars");
  if (fields.has("strip_accents")) config.strip_accents = fields.boolean("strip_accents");
  if (fields.has("model_max_length")) {
    // Hugging Face writes 1e30 for "no limit".
    const double length = fields.number("model_max_length", 1, std::numeric_limits<double>::max());
    config.model_max_length = length < 0x1p53 ? fields.integer("model_max_length", 1) : INT64_MAX;
  }
  if (fields.has(kExtras)) config.eflops = fields.text_map(kExtras);
  return config;
}

void copy_into(const fs::path& folder, const fs::path& source, std::string_view name) {
  write_file_atomically(folder / name, read_file(source));
}

}  // namespace eflops::checkpoint
