#pragma once

#include <cstdint>
#include <string>

#include "data/pretrain_sampler.h"
#include "models/structbert.h"
#include "text/tokenizer.h"

namespace eflops::programs {

/// How many examples of each kind to show, and among how many held-out instances to look for them.
struct ShowcaseOptions {
  std::int64_t examples = 4;
  std::int64_t instances = 200;
  std::int64_t span = 3;  ///< tokens of a shuffled span
};

/// Blanks the model filled in and spans it put back into order on held-out text, with the words around them. Blanks
/// with long answers come first, right and wrong ones taken in turn; it says how many there were to choose from. For
/// people: the scores, not this, say how good the model is.
std::string showcase(models::StructBert& model, const data::PretrainSampler& held_out, const text::Tokenizer& tokenizer,
                     const ShowcaseOptions& options);

}  // namespace eflops::programs
