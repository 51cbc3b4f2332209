#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/objective_options.h"
#include "data/objective_tokens.h"

namespace eflops::data {

/// An instance while its objectives are laid on it: tokens and segments of equal length, and what was predicted so far.
struct TokenSequence {
  std::vector<std::int32_t> tokens = {};
  std::vector<std::int32_t> segments = {};
  std::vector<Prediction> predictions = {};
};

/// How many spans the share asks for, max(1, share * count rounded half to even), where count is the tokens without
/// fixed ones, less the masked ones under ShuffleReading::OfUnmasked. Not defined for PerStart.
std::int64_t shuffle_count(std::int64_t ordinary_tokens, std::int64_t masked_tokens, const ObjectiveOptions& options);

/// StructBERT's word structural objective (section 2.1), after masking: shuffles disjoint spans of K tokens, each drawn
/// uniformly from the windows that hold no predicted and no fixed token, lie inside one segment and touch no span drawn
/// before; appends a prediction of the original token for the positions shuffle_targets says. Shuffles fewer where too
/// few windows are left. Under ShuffleReading::PerStart it follows AliceMind instead: spans may overlap and hold masked
/// tokens.
void shuffle_tokens(TokenSequence& sequence, const TokenRules& rules, const ObjectiveOptions& options, Random& random);

}  // namespace eflops::data
