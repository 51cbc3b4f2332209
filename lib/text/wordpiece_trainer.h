#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "text/word_counts.h"

namespace eflops::text {

struct WordPieceTrainingOptions {
  std::int64_t vocabulary_size = 30522;  ///< pieces, specials included; an upper bound
  std::int64_t min_frequency = 2;        ///< a pair that occurs less often is not joined
  std::int64_t alphabet_limit = 1000;    ///< different characters, the most frequent; words with others are left out

  void visit_fields(OptionVisitor& v);
};

/// Trains a WordPiece vocabulary: words start as characters (those behind the first with "##"), then the most frequent
/// pair of neighbours is joined, again and again, as in byte pair encoding (Sennrich et al. 2016) and as Hugging Face's
/// trainer does. The score is the plain count, not the likelihood ratio of the first WordPiece (Schuster and Nakajima
/// 2012): it needs no second statistic and favours frequent pieces. Ties go to the pair whose pieces entered the
/// vocabulary first.
///
/// Order: [PAD] [UNK] [CLS] [SEP] [MASK], the characters in byte order, the joined pieces as they came. The same counts
/// give the same vocabulary. ConfigError if the characters alone do not fit; DataError if there are no words.
std::vector<std::string> train_wordpiece(const WordCounts& counts, const WordPieceTrainingOptions& options);

}  // namespace eflops::text
