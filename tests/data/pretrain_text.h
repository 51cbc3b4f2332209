#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "data/objective_options.h"
#include "data/objective_tokens.h"

namespace eflops::testing {

inline constexpr std::int32_t kVocabulary = 20'000;
inline constexpr std::int32_t kCls = 2;
inline constexpr std::int32_t kSep = 3;
inline constexpr std::int32_t kMask = 4;
inline constexpr std::int32_t kFirstOrdinary = 10;        // 0 padding, 1 unknown, 5 ... 9 unused
inline constexpr std::int32_t kFirstContinuing = 19'000;  // these and above are ##pieces

inline data::TokenRules token_rules() {
  data::TokenRules rules{.cls = kCls, .sep = kSep, .mask = kMask, .vocabulary_size = kVocabulary};
  for (std::int32_t id = 0; id < kVocabulary; ++id) {
    rules.fixed.push_back(id == 0 || (id >= kCls && id <= kMask));
    rules.continues_word.push_back(id >= kFirstContinuing);
    if (id >= kFirstOrdinary) rules.ordinary.push_back(id);
  }
  return rules;
}

/// [CLS], then `count` different ids from kFirstOrdinary on, then [SEP].
inline std::vector<std::int32_t> one_segment(std::int32_t count) {
  std::vector<std::int32_t> tokens{kCls};
  for (std::int32_t i = 0; i < count; ++i) tokens.push_back(kFirstOrdinary + i);
  tokens.push_back(kSep);
  return tokens;
}

using Documents = std::vector<std::vector<std::vector<std::int32_t>>>;

/// One document per entry of `lengths`, with sentences of those lengths; ids count up through the whole text, so that a
/// token tells where it stands.
inline Documents counting_documents(const std::vector<std::vector<std::int32_t>>& lengths) {
  Documents documents;
  std::int32_t id = kFirstOrdinary;
  for (const auto& document : lengths) {
    documents.emplace_back();
    for (const std::int32_t length : document) {
      documents.back().emplace_back();
      for (std::int32_t i = 0; i < length; ++i) documents.back().back().push_back(id++);
    }
  }
  return documents;
}

/// `count` documents of `sentences` sentences of `length` tokens; every token is the same ordinary id.
inline data::Corpus uniform_corpus(std::size_t count, std::size_t sentences, std::size_t length) {
  const std::vector<std::int32_t> sentence(length, kFirstOrdinary);
  return data::Corpus::from_documents(Documents(count, std::vector(sentences, sentence)), kVocabulary);
}

/// Pearson's statistic of counts against equal expected counts; with k counts it follows chi-square of k - 1 degrees.
inline double chi_square(std::span<const std::int64_t> counts) {
  double total = 0;
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const std::int64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    sum += off * off / expected;
  }
  return sum;
}

}  // namespace eflops::testing
