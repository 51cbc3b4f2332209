#include "text/tokenizer.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/vocabulary.h"
#include "text/wordpiece_tokenizer.h"

namespace eflops::text {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigName = "tokenizer_config.json";

/// What tokenizer_config.json says; empty where it says nothing.
struct StoredSettings {
  std::optional<bool> lower_case;
  std::optional<bool> strip_accents;
  std::optional<bool> isolate_cjk;
  std::optional<std::int64_t> max_word_chars;
  std::optional<std::string> compat;
};

template <typename T>
std::optional<T> stored_value(const Json& config, const char* key, const fs::path& file) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return std::nullopt;
  try {
    return found->template get<T>();
  } catch (const nlohmann::json::exception&) {
    throw DataError("{}: {} is {}, which has the wrong type", file.string(), key, to_json_line(*found));
  }
}

StoredSettings read_stored_settings(const fs::path& folder) {
  const fs::path file = folder / kConfigName;
  if (!fs::exists(file)) return {};
  const Json config = parse_json(read_file(file), file.string());
  if (!config.is_object()) throw DataError("{}: not a JSON object", file.string());
  return {stored_value<bool>(config, "do_lower_case", file), stored_value<bool>(config, "strip_accents", file),
          stored_value<bool>(config, "tokenize_chinese_chars", file),
          stored_value<std::int64_t>(config, "max_input_chars_per_word", file),
          stored_value<std::string>(config, "eflops_compat", file)};
}

/// The vocabulary or model file that the option names, itself or through its folder.
fs::path find_vocabulary(const fs::path& given) {
  if (fs::is_regular_file(given)) return given;
  if (!fs::is_directory(given))
    throw ConfigError(
        "vocabulary '{}': no such file or folder; give a vocab.txt, a SentencePiece *.model, or a folder "
        "that holds one",
        given.string());
  if (const std::optional<fs::path> found = vocabulary_in(given)) return *found;
  throw ConfigError("vocabulary '{}': the folder holds no vocab.txt and no *.model files; name the file itself",
                    given.string());
}

NormalisationOrder choose_order(Compat wanted, const std::optional<std::string>& stored, const fs::path& folder) {
  if (wanted == Compat::Auto && stored && *stored != "google" && *stored != "hf")
    throw DataError("{}: eflops_compat '{}' is neither google nor hf", (folder / kConfigName).string(), *stored);
  const bool hf = wanted == Compat::Auto ? stored == "hf" : wanted == Compat::HuggingFace;
  return hf ? NormalisationOrder::HuggingFace : NormalisationOrder::Google;
}

WordPieceSettings choose_settings(const TokenizerOptions& options, const std::vector<std::string>& pieces) {
  const fs::path given = options.vocabulary;
  const StoredSettings stored = fs::is_directory(given) ? read_stored_settings(given) : StoredSettings{};
  WordPieceSettings settings;
  NormalisationRules& rules = settings.rules;
  rules.order = choose_order(options.compat, stored.compat, given);
  rules.lower_case = options.lower_case == Casing::Auto ? stored.lower_case.value_or(!is_cased(pieces))
                                                        : options.lower_case == Casing::Uncased;
  rules.strip_accents = options.strip_accents == StripAccents::Follow ? stored.strip_accents.value_or(rules.lower_case)
                                                                      : options.strip_accents == StripAccents::Yes;
  rules.isolate_cjk = stored.isolate_cjk.value_or(true);
  settings.max_word_chars = options.max_word_chars != 0 ? options.max_word_chars : stored.max_word_chars.value_or(100);
  if (settings.max_word_chars < 1)
    throw ConfigError("max_word_chars is {}; it must be at least 1", settings.max_word_chars);
  return settings;
}

}  // namespace

std::optional<fs::path> vocabulary_in(const fs::path& folder) {
  if (fs::exists(folder / "vocab.txt")) return folder / "vocab.txt";
  std::vector<fs::path> models;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".model") models.push_back(entry.path());
  if (models.empty()) return std::nullopt;
  if (models.size() == 1) return models[0];
  throw ConfigError("vocabulary '{}': the folder holds no vocab.txt and {} *.model files; name the file itself",
                    folder.string(), models.size());
}

void TokenizerOptions::visit_fields(OptionVisitor& v) {
  v("vocabulary", vocabulary,
    "vocab.txt (WordPiece), a SentencePiece *.model, or a Hugging Face folder that holds one of them",
    {.aliases = {"vocab_file", "tokenizer_name"}, .changes_result = false});
  v("lower_case", lower_case, "uncased or cased text; auto: as stored in the folder, else as the pieces are",
    {.aliases = {"do_lower_case"}});
  v("compat", compat, "whose normalisation: google (bert) or hf (Rust tokenizers); auto: as stored, else google");
  v("max_word_chars", max_word_chars,
    "a longer word becomes [UNK]: 100 in Hugging Face, 200 in Google's code; 0: as stored, else 100",
    {.unit = "characters", .min = 0, .max = 1'000'000});
  v("strip_accents", strip_accents, "take accents off; follow: as stored, else exactly if uncased");
}

std::unique_ptr<Tokenizer> load_tokenizer(const TokenizerOptions& options) {
  if (options.vocabulary.empty())
    throw ConfigError("vocabulary is empty; give a vocab.txt, a SentencePiece *.model, or a folder that holds one");
  const fs::path file = find_vocabulary(options.vocabulary);
  if (file.extension() == ".model") {
    if (options.lower_case != Casing::Auto || options.strip_accents != StripAccents::Follow)
      throw ConfigError(
          "lower_case and strip_accents do not apply to {}: a SentencePiece model holds its own "
          "normalisation; leave them at auto and follow",
          file.string());
    return std::make_unique<SentencePieceTokenizer>(read_file(file), file.string());
  }
  std::vector<std::string> pieces = read_vocabulary(file);
  const WordPieceSettings settings = choose_settings(options, pieces);
  return std::make_unique<WordPieceTokenizer>(std::move(pieces), settings, file.string());
}

std::vector<NamedFile> tokenizer_files(const Tokenizer& tokenizer) {
  Json config;
  if (const auto* wordpiece = dynamic_cast<const WordPieceTokenizer*>(&tokenizer)) {
    const WordPieceSettings& settings = wordpiece->settings();
    const NormalisationRules& rules = settings.rules;
    config["tokenizer_class"] = "BertTokenizer";
    config["do_lower_case"] = rules.lower_case;
    config["strip_accents"] = rules.strip_accents;
    config["tokenize_chinese_chars"] = rules.isolate_cjk;
    config["max_input_chars_per_word"] = settings.max_word_chars;
    config["eflops_compat"] = rules.order == NormalisationOrder::HuggingFace ? "hf" : "google";
    return {{"vocab.txt", vocabulary_text(wordpiece->pieces())}, {std::string(kConfigName), config.dump(2) + "\n"}};
  }
  const auto* sentencepiece = dynamic_cast<const SentencePieceTokenizer*>(&tokenizer);
  EFLOPS_CHECK(sentencepiece != nullptr, "a tokenizer that load_tokenizer did not make");
  const SpecialIds ids = sentencepiece->specials();
  const auto name = [&](const char* key, std::int32_t id) {
    if (id >= 0) config[key] = sentencepiece->piece(id);
  };
  name("pad_token", ids.pad);
  name("unk_token", ids.unknown);
  name("cls_token", ids.cls);
  name("sep_token", ids.sep);
  name("mask_token", ids.mask);
  return {{"spiece.model", sentencepiece->model_bytes()}, {std::string(kConfigName), config.dump(2) + "\n"}};
}

void require_pretraining_specials(const Tokenizer& tokenizer) {
  const SpecialIds ids = tokenizer.specials();
  std::string missing;
  const auto need = [&](std::int32_t id, std::string_view what) {
    if (id < 0) missing += fmt::format("{}{}", missing.empty() ? "" : "; ", what);
  };
  need(ids.pad, "padding ([PAD] or <pad>)");
  need(ids.unknown, "unknown ([UNK] or <unk>)");
  need(ids.cls, "start ([CLS], <cls> or <s>)");
  need(ids.sep, "separator ([SEP], <sep> or </s>)");
  need(ids.mask, "mask ([MASK] or <mask>)");
  if (!missing.empty())
    throw DataError("the vocabulary ({}) cannot serve pre-training; missing: {}", tokenizer.description(), missing);
}

}  // namespace eflops::text
