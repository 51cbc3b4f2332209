#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/objective_tokens.h"
#include "data/pretrain_plan.h"

namespace eflops::data {

/// One pre-training example: [CLS] A [SEP] B [SEP], or [CLS] A [SEP] without a sentence task; never padded.
struct PretrainInstance {
  std::vector<std::int32_t> tokens;               ///< (T), after masking and shuffling
  std::vector<std::int32_t> segments;             ///< (T), 0 for [CLS] A [SEP], 1 for B [SEP]
  std::vector<std::int32_t> predicted_positions;  ///< (P), ascending, in [0, T)
  std::vector<std::int32_t> predicted_labels;     ///< (P), the original tokens
  std::vector<PredictionKind> predicted_kinds;    ///< (P)
  PairClass pair_class = PairClass::Single;
  std::int32_t sentence_label = -1;   ///< id in sentence_label_names(); -1 without a sentence task
  std::uint64_t sample_id = 0;        ///< sample_id() of its epoch and place
  std::int64_t truncated_tokens = 0;  ///< tokens of text that max_seq_length cut off
};

/// Unique in a run: epoch * 2^40 + place in the epoch's order.
std::uint64_t sample_id(std::int64_t epoch, std::int64_t index);

/// What is left of the two segments of a pair, as ranges into each.
struct PairCut {
  std::int64_t a_begin = 0;
  std::int64_t a_end = 0;
  std::int64_t b_begin = 0;
  std::int64_t b_end = 0;
};

/// Google's truncate_seq_pair: while the two are longer than `budget` together, the longer one (B on a tie) loses a
/// token at its front or its back, each with probability 0.5.
PairCut truncate_pair(std::int64_t a_length, std::int64_t b_length, std::int64_t budget, Random& random);

/// Everything an instance is a function of, besides the plan and its place in it.
struct InstanceSource {
  const Corpus& corpus;
  const TokenRules& rules;
  const ObjectiveOptions& options;  ///< resolved
  std::uint64_t seed = 0;
};

/// Reads, joins, truncates, masks and shuffles instance `index` of the plan. A pure function, safe from any thread.
PretrainInstance make_instance(const InstanceSource& source, const EpochPlan& plan, std::int64_t index);

}  // namespace eflops::data
