#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/options.h"

namespace eflops::text {

enum class SentencePieceKind { Unigram, Bpe };

struct SentencePieceTrainingOptions {
  SentencePieceKind kind = SentencePieceKind::Unigram;
  std::int64_t vocabulary_size = 30522;    ///< pieces, specials included; exact
  double character_coverage = 0.9995;      ///< share of the characters that get a piece of their own
  std::int64_t max_sentences = 1'000'000;  ///< sentences taken from the front of the text; bounds memory
  bool lower_case = false;                 ///< NFKC with case folding in place of NFKC

  void visit_fields(OptionVisitor& v);
};

/// Trains a model with SentencePiece's own trainer on one thread, so that the same sentences give the same bytes.
/// `next` fills in a sentence and returns false at the end. The specials are [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3,
/// [MASK] 4. Returns the bytes of the .model file. DataError if there are no sentences or the library refuses (too few
/// different pieces for the size: its message says how many).
std::string train_sentencepiece(const std::function<bool(std::string& sentence)>& next,
                                const SentencePieceTrainingOptions& options);

}  // namespace eflops::text

template <>
struct eflops::Choices<eflops::text::SentencePieceKind> {
  static constexpr std::pair<eflops::text::SentencePieceKind, std::string_view> kEntries[] = {
      {eflops::text::SentencePieceKind::Unigram, "unigram"}, {eflops::text::SentencePieceKind::Bpe, "bpe"}};
};
