#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/objective_options.h"
#include "data/objective_tokens.h"

namespace eflops::data {

/// How many tokens of an instance of `length` tokens ([CLS] and [SEP] included) are chosen: min(max_predictions,
/// max(1, length * mlm_probability rounded half to even)), Google's count; 0 when mlm_probability is 0.
std::int64_t mask_count(std::int64_t length, const ObjectiveOptions& options);

/// BERT's masked language model: chooses mask_count() positions that hold no fixed token, replaces what stands there
/// and appends one prediction each, in the order chosen. With whole_word the pieces of a word are chosen together, and
/// a word that would exceed the count is passed over. Chooses fewer where too few positions fit.
void mask_tokens(std::vector<std::int32_t>& tokens, const TokenRules& rules, const ObjectiveOptions& options,
                 Random& random, std::vector<Prediction>& predictions);

}  // namespace eflops::data
