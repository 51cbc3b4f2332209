#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/pretrain_instance.h"

namespace eflops::data {

/// Instances laid end to end without padding (DESIGN D6): B sequences, T tokens in all, P predictions in all.
struct PackedTextBatch {
  std::vector<std::int32_t> tokens;             ///< (T)
  std::vector<std::int32_t> segments;           ///< (T)
  std::vector<std::int32_t> positions;          ///< (T), from 0 in each sequence
  std::vector<std::int32_t> offsets = {0};      ///< (B + 1), sequence b is rows [offsets[b], offsets[b + 1])
  std::vector<std::int32_t> predicted_rows;     ///< (P), ascending, rows of `tokens`; may be empty
  std::vector<std::int32_t> predicted_labels;   ///< (P)
  std::vector<PredictionKind> predicted_kinds;  ///< (P)
  std::vector<std::int32_t> sentence_labels;    ///< (B), or empty without a sentence task
  std::vector<std::uint64_t> sample_keys;       ///< (B), sample ids: what dropout draws are keyed by (DESIGN D7)

  std::int64_t sequences() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

/// Packs in the order given. InternalError beyond 2^31 - 1 tokens.
PackedTextBatch pack(std::span<const PretrainInstance> instances);

/// Samples [begin, end) of a global batch.
struct SampleRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Micro-shard `shard` of `shards` of a global batch in sample order (DESIGN D8): sizes differ by at most one, and none
/// is empty when global_batch >= shards.
SampleRange shard_range(std::int64_t global_batch, std::int64_t shards, std::int64_t shard);

}  // namespace eflops::data
