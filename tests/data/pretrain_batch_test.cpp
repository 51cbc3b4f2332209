#include "data/pretrain_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eflops::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PretrainInstance instance(std::vector<std::int32_t> tokens, std::int32_t label, std::uint64_t id) {
  PretrainInstance made;
  made.segments.assign(tokens.size(), 0);
  made.segments.back() = 1;
  made.tokens = std::move(tokens);
  made.sentence_label = label;
  made.sample_id = id;
  return made;
}

TEST(Pack, LaysInstancesEndToEnd) {
  std::vector<PretrainInstance> instances{instance({2, 10, 3}, 1, 77), instance({2, 11, 12, 3}, 0, 78)};
  instances[0].predicted_positions = {1};
  instances[0].predicted_labels = {10};
  instances[0].predicted_kinds = {PredictionKind::Kept};
  instances[1].predicted_positions = {1, 2};
  instances[1].predicted_labels = {12, 11};
  instances[1].predicted_kinds = {PredictionKind::Shuffled, PredictionKind::Shuffled};
  const PackedTextBatch batch = pack(instances);
  EXPECT_EQ(batch.sequences(), 2);
  EXPECT_THAT(batch.tokens, ElementsAre(2, 10, 3, 2, 11, 12, 3));
  EXPECT_THAT(batch.segments, ElementsAre(0, 0, 1, 0, 0, 0, 1));
  EXPECT_THAT(batch.positions, ElementsAre(0, 1, 2, 0, 1, 2, 3));
  EXPECT_THAT(batch.offsets, ElementsAre(0, 3, 7));
  EXPECT_THAT(batch.predicted_rows, ElementsAre(1, 4, 5));
  EXPECT_THAT(batch.predicted_labels, ElementsAre(10, 12, 11));
  EXPECT_THAT(batch.predicted_kinds,
              ElementsAre(PredictionKind::Kept, PredictionKind::Shuffled, PredictionKind::Shuffled));
  EXPECT_THAT(batch.sentence_labels, ElementsAre(1, 0));
  EXPECT_THAT(batch.sample_keys, ElementsAre(77U, 78U));
}

TEST(Pack, ABatchMayHaveNothingToPredict) {
  const PackedTextBatch batch = pack(std::vector{instance({2, 3}, -1, 5)});
  EXPECT_EQ(batch.sequences(), 1);
  EXPECT_THAT(batch.predicted_rows, IsEmpty());
  EXPECT_THAT(batch.sentence_labels, IsEmpty());
}

TEST(Pack, NoInstancesAreAnEmptyBatch) {
  const PackedTextBatch batch = pack({});
  EXPECT_EQ(batch.sequences(), 0);
  EXPECT_THAT(batch.offsets, ElementsAre(0));
}

TEST(ShardRange, CutsInOrderIntoNearlyEqualParts) {
  for (const std::int64_t batch : {8, 13, 64, 100}) {
    for (const std::int64_t shards : {1, 2, 4, 8}) {
      std::int64_t at = 0;
      for (std::int64_t shard = 0; shard < shards; ++shard) {
        const SampleRange range = shard_range(batch, shards, shard);
        EXPECT_EQ(range.begin, at);
        const std::int64_t size = range.end - range.begin;
        EXPECT_TRUE(size == batch / shards || size == batch / shards + 1) << batch << "/" << shards << ": " << size;
        at = range.end;
      }
      EXPECT_EQ(at, batch);
    }
  }
}

}  // namespace
}  // namespace eflops::data
