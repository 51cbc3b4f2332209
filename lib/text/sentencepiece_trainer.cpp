#include "text/sentencepiece_trainer.h"

#include <string_view>

#include "base/error.h"
#include "text/sentencepiece_library.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace eflops::text {

void SentencePieceTrainingOptions::visit_fields(OptionVisitor& v) {
  v("kind", kind, "how pieces are chosen", {.aliases = {"model_type"}});
  v("vocabulary_size", vocabulary_size, "pieces to train, specials included",
    {.unit = "pieces", .min = 8, .max = 10'000'000, .aliases = {"vocab_size"}});
  v("character_coverage", character_coverage, "share of the characters that get a piece of their own",
    {.min = 0.9, .max = 1.0});
  v("max_sentences", max_sentences, "sentences taken from the front of the text; bounds memory",
    {.unit = "sentences", .min = 1, .aliases = {"input_sentence_size"}});
  v("lower_case", lower_case, "fold case in the model's own normalisation (NFKC either way)");
}

std::string train_sentencepiece(const std::function<bool(std::string&)>& next,
                                const SentencePieceTrainingOptions& options) {
  std::int64_t taken = 0;
  const auto next_clean = [&](std::string& sentence) {
    while (taken < options.max_sentences && next(sentence)) {
      if (first_invalid_utf8(sentence) != std::string::npos) sentence = without_invalid_utf8(sentence);
      if (sentence.empty()) continue;
      ++taken;
      return true;
    }
    return false;
  };
  std::string first;
  if (!next_clean(first)) throw DataError("no sentences to train a SentencePiece model from");
  bool is_first = true;
  const auto pull = [&](std::string& sentence) {
    if (!is_first) return next_clean(sentence);
    is_first = false;
    sentence = first;
    return true;
  };
  return run_sentencepiece_trainer({{"model_type", std::string(choice_name(options.kind))},
                                    {"vocab_size", std::to_string(options.vocabulary_size)},
                                    {"character_coverage", fmt::format("{}", options.character_coverage)},
                                    {"normalization_rule_name", options.lower_case ? "nmt_nfkc_cf" : "nmt_nfkc"},
                                    {"num_threads", "1"},
                                    {"max_sentence_length", "16384"},
                                    {"pad_id", "0"},
                                    {"unk_id", "1"},
                                    {"bos_id", "2"},
                                    {"eos_id", "3"},
                                    {"pad_piece", std::string(kPad)},
                                    {"unk_piece", std::string(kUnknown)},
                                    {"bos_piece", std::string(kCls)},
                                    {"eos_piece", std::string(kSep)},
                                    {"control_symbols", std::string(kMask)},
                                    {"minloglevel", "2"}},
                                   pull);
}

}  // namespace eflops::text
