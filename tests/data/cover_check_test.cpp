#include "data/cover_check.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/data/pretrain_text.h"

namespace eflops::data {
namespace {

class Cover : public ::testing::Test {
 protected:
  PretrainSampler sampler_{eflops::testing::uniform_corpus(6, 4, 5),
                           eflops::testing::token_rules(),
                           {.max_seq_length = 32, .short_seq_prob = 0},
                           1};
  std::int64_t epoch_size_ = sampler_.plan(0).size();
};

TEST_F(Cover, PassesWhatAStreamGivesOverEpochBorders) {
  PretrainStream stream(sampler_, {.epoch = 0, .next = 1});
  CoverCheck cover(stream.position());
  for (std::int64_t step = 0; step < epoch_size_; ++step)
    cover.add(stream.next({.global_batch = 3, .shards = 2, .shard_count = 2}));
  EXPECT_EQ(cover.samples(), 3 * epoch_size_);
  EXPECT_GE(stream.position().epoch, 2);
  EXPECT_NO_THROW(cover.verify(stream.position()));
}

TEST_F(Cover, FailsForADroppedARepeatedAndAForeignSample) {
  const EpochPlan plan = sampler_.plan(0);
  ASSERT_GE(plan.size(), 4);
  const auto error_of = [&](std::initializer_list<std::int64_t> used) -> std::string {
    CoverCheck cover;
    for (const std::int64_t index : used)
      cover.add({.shards = {sampler_.make_batch(plan, {index, index + 1})}, .end = {}});
    try {
      cover.verify({.epoch = 0, .next = 3});
    } catch (const CheckFailed& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of({0, 1, 2}), "");
  EXPECT_EQ(error_of({2, 0, 1}), "");  // the order inside a batch is not the cover's business
  EXPECT_EQ(error_of({0, 2}),
            "data cover: 2 samples were used, 3 are planned from sample 0 of epoch 0 to sample 3 of 0");
  EXPECT_NE(error_of({0, 1, 1}).find("not the same samples"), std::string::npos);
  EXPECT_NE(error_of({0, 1, 3}).find("not the same samples"), std::string::npos);
}

TEST_F(Cover, FailsWhereAnEpochIsMissing) {
  CoverCheck cover;
  cover.add({.shards = {sampler_.make_batch(sampler_.plan(0), {0, epoch_size_})}, .end = {}});
  EXPECT_NO_THROW(cover.verify({.epoch = 0, .next = epoch_size_}));
  EXPECT_THROW(cover.verify({.epoch = 1, .next = 0}), CheckFailed);
}

}  // namespace
}  // namespace eflops::data
