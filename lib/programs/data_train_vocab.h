#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/options.h"
#include "data/text_source.h"

namespace eflops::programs {

/// Which kind of vocabulary is trained.
enum class VocabularyKind { WordPiece, Unigram, Bpe };

/// `eflops-data train-vocab`: text to a vocabulary.
struct TrainVocabOptions {
  data::TextSourceOptions text;
  VocabularyKind kind = VocabularyKind::WordPiece;
  std::string output;                      ///< folder, as Hugging Face lays it out
  std::int64_t vocabulary_size = 30522;    ///< pieces, specials included
  bool cased = false;                      ///< keep upper case and accents
  std::int64_t min_frequency = 2;          ///< WordPiece
  std::int64_t alphabet_limit = 1000;      ///< WordPiece
  double character_coverage = 0.9995;      ///< SentencePiece
  std::int64_t max_sentences = 1'000'000;  ///< SentencePiece
  std::int64_t processes = 0;              ///< WordPiece; 0: one per core
  bool overwrite = false;

  void visit_fields(OptionVisitor& v);
};

/// Trains the vocabulary and writes it to `output`: vocab.txt or spiece.model with tokenizer_config.json, which
/// `--vocabulary`, and Hugging Face's BertTokenizer, take as they are. The same text gives the same bytes, whatever the
/// number of processes. ConfigError when `output` is not empty and `overwrite` not given.
void run_train_vocab(const TrainVocabOptions& options);

}  // namespace eflops::programs

template <>
struct eflops::Choices<eflops::programs::VocabularyKind> {
  static constexpr std::pair<eflops::programs::VocabularyKind, std::string_view> kEntries[] = {
      {eflops::programs::VocabularyKind::WordPiece, "wordpiece"},
      {eflops::programs::VocabularyKind::Unigram, "unigram"},
      {eflops::programs::VocabularyKind::Bpe, "bpe"}};
};
