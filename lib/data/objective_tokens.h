#pragma once

#include <cstdint>
#include <vector>

#include "text/tokenizer.h"

namespace eflops::data {

/// What the objectives must know of a vocabulary.
struct TokenRules {
  std::int32_t cls = 0;
  std::int32_t sep = 0;
  std::int32_t mask = 0;
  std::int32_t vocabulary_size = 0;
  std::vector<bool> fixed = {};             ///< per id: never masked or shuffled ([CLS], [SEP], [MASK], padding)
  std::vector<bool> continues_word = {};    ///< per id: a piece that belongs to the word before it, such as ##ing
  std::vector<std::int32_t> ordinary = {};  ///< ids a random replacement may take when special and unused ones may not
};

/// The rules of a tokenizer. An unknown piece is text like any other; "[unused7]" is no ordinary piece. DataError when
/// a special piece that pre-training needs is missing.
TokenRules token_rules(const text::Tokenizer& tokenizer);

/// Why a position is predicted.
enum class PredictionKind : std::uint8_t { Masked, Random, Kept, Shuffled };

/// One position that the MLM head predicts.
struct Prediction {
  std::int32_t position = 0;
  std::int32_t label = 0;  ///< the original token there
  PredictionKind kind = PredictionKind::Masked;
};

}  // namespace eflops::data
