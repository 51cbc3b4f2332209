#include "data/objective_tokens.h"

namespace eflops::data {

TokenRules token_rules(const text::Tokenizer& tokenizer) {
  text::require_pretraining_specials(tokenizer);
  const text::SpecialIds specials = tokenizer.specials();
  TokenRules rules{
      .cls = specials.cls, .sep = specials.sep, .mask = specials.mask, .vocabulary_size = tokenizer.size()};
  for (std::int32_t id = 0; id < rules.vocabulary_size; ++id) {
    const bool special = tokenizer.is_special(id);
    rules.fixed.push_back(special && id != specials.unknown);
    rules.continues_word.push_back(tokenizer.continues_word(id));
    if (!special && !tokenizer.piece(id).starts_with("[unused")) rules.ordinary.push_back(id);
  }
  return rules;
}

}  // namespace eflops::data
