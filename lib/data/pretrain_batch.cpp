#include "data/pretrain_batch.h"

#include <limits>

#include "base/error.h"

namespace eflops::data {

PackedTextBatch pack(std::span<const PretrainInstance> instances) {
  PackedTextBatch batch;
  for (const PretrainInstance& instance : instances) {
    const std::size_t end = batch.tokens.size() + instance.tokens.size();
    EFLOPS_CHECK(end <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "a batch of {} tokens",
                 end);
    const std::int32_t first_row = batch.offsets.back();
    batch.tokens.insert(batch.tokens.end(), instance.tokens.begin(), instance.tokens.end());
    batch.segments.insert(batch.segments.end(), instance.segments.begin(), instance.segments.end());
    batch.offsets.push_back(static_cast<std::int32_t>(end));
    for (std::int32_t row = first_row; row < batch.offsets.back(); ++row) batch.positions.push_back(row - first_row);
    for (const std::int32_t position : instance.predicted_positions)
      batch.predicted_rows.push_back(first_row + position);
    batch.predicted_labels.insert(batch.predicted_labels.end(), instance.predicted_labels.begin(),
                                  instance.predicted_labels.end());
    batch.predicted_kinds.insert(batch.predicted_kinds.end(), instance.predicted_kinds.begin(),
                                 instance.predicted_kinds.end());
    if (instance.sentence_label >= 0) batch.sentence_labels.push_back(instance.sentence_label);
    batch.sample_keys.push_back(instance.sample_id);
  }
  return batch;
}

SampleRange shard_range(std::int64_t global_batch, std::int64_t shards, std::int64_t shard) {
  EFLOPS_CHECK(global_batch >= 0 && shards > 0 && shard >= 0 && shard < shards, "shard {} of {}, batch {}", shard,
               shards, global_batch);
  return {global_batch * shard / shards, global_batch * (shard + 1) / shards};
}

}  // namespace eflops::data
