#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"

namespace eflops::text {

/// One piece of a text. [begin, end) counts code points of the original text; bytes that are not UTF-8 are no code
/// points. A piece runs from the source of its first character to the source of its last: accents that normalisation
/// took away inside it are covered, those behind its last character are not (Hugging Face's convention).
struct Token {
  std::int32_t id = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Token&) const = default;
};

/// Ids of the special pieces; -1 where a SentencePiece model has none.
struct SpecialIds {
  std::int32_t pad = -1;
  std::int32_t unknown = -1;
  std::int32_t cls = -1;
  std::int32_t sep = -1;
  std::int32_t mask = -1;
};

/// Text to piece ids and back. Immutable; every function may be called from any number of threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Appends the pieces of a text; adds no [CLS] or [SEP].
  virtual void encode(std::string_view utf8, std::vector<Token>& out) const = 0;
  /// Appends the ids that `encode` would give, faster.
  virtual void encode_ids(std::string_view utf8, std::vector<std::int32_t>& out) const = 0;
  /// Text for people to read; specials are written by name. Not always what was encoded: case and spaces are lost.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;

  /// Number of pieces; ids are [0, size()).
  virtual std::int32_t size() const = 0;
  virtual std::string_view piece(std::int32_t id) const = 0;
  /// True for a piece that goes on with the word before it: "##x", or a SentencePiece piece that does not begin one.
  virtual bool continues_word(std::int32_t id) const = 0;
  virtual SpecialIds specials() const = 0;
  virtual bool is_special(std::int32_t id) const = 0;

  /// Over the vocabulary and every switch that changes ids: equal hashes give equal ids for every text.
  virtual std::uint64_t hash() const = 0;
  /// "wordpiece uncased google limit 100, 30522 pieces, Unicode 15.0".
  virtual std::string description() const = 0;
};

enum class Casing { Auto, Uncased, Cased };
enum class Compat { Auto, Google, HuggingFace };
enum class StripAccents { Follow, Yes, No };

/// What to load and how it behaves. `Auto`, `Follow` and 0 mean: as tokenizer_config.json beside the vocabulary says
/// when `vocabulary` is a folder; without that, as each field's comment says.
struct TokenizerOptions {
  std::string vocabulary = {};                        ///< vocab.txt, a SentencePiece *.model, or a folder with one
  Casing lower_case = Casing::Auto;                   ///< else cased if lower-casing would change a piece
  Compat compat = Compat::Auto;                       ///< else google
  std::int64_t max_word_chars = 0;                    ///< else 100
  StripAccents strip_accents = StripAccents::Follow;  ///< else as lower_case

  void visit_fields(OptionVisitor& v);
};

/// The vocabulary of a folder: its vocab.txt, or its only *.model; nothing if it has neither. ConfigError where several
/// models leave the choice open.
std::optional<std::filesystem::path> vocabulary_in(const std::filesystem::path& folder);

/// Loads a vocabulary or model. DataError names file and line of what is wrong with it; ConfigError where an option
/// does not apply.
std::unique_ptr<Tokenizer> load_tokenizer(const TokenizerOptions& options);

/// A file of a Hugging Face folder, by name.
struct NamedFile {
  std::string name;
  std::string bytes;
};

/// What to store beside a model so that `load_tokenizer` on the folder gives an equal hash and Hugging Face reads it:
/// vocab.txt or spiece.model, and tokenizer_config.json. Only for tokenizers that load_tokenizer made.
std::vector<NamedFile> tokenizer_files(const Tokenizer& tokenizer);

/// Pre-training needs padding, unknown, [CLS], [SEP] and [MASK]: DataError says which are missing and under which names
/// they were looked for.
void require_pretraining_specials(const Tokenizer& tokenizer);

}  // namespace eflops::text

template <>
struct eflops::Choices<eflops::text::Casing> {
  static constexpr std::pair<eflops::text::Casing, std::string_view> kEntries[] = {
      {eflops::text::Casing::Auto, "auto"},
      {eflops::text::Casing::Uncased, "uncased"},
      {eflops::text::Casing::Cased, "cased"}};
};

template <>
struct eflops::Choices<eflops::text::Compat> {
  static constexpr std::pair<eflops::text::Compat, std::string_view> kEntries[] = {
      {eflops::text::Compat::Auto, "auto"},
      {eflops::text::Compat::Google, "google"},
      {eflops::text::Compat::HuggingFace, "hf"}};
};

template <>
struct eflops::Choices<eflops::text::StripAccents> {
  static constexpr std::pair<eflops::text::StripAccents, std::string_view> kEntries[] = {
      {eflops::text::StripAccents::Follow, "follow"},
      {eflops::text::StripAccents::Yes, "yes"},
      {eflops::text::StripAccents::No, "no"}};
};
