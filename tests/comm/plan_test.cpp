#include "comm/plan.h"

#include <gmock/gmock.h>

#include "coll/algorithms.h"

namespace eflops::comm {
namespace {

using coll::Buffer;
using coll::Kind;
using coll::RankSchedule;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Plan, SegmentsOfDifferentElementsDoNotWaitForEachOther) {
  // Round 0 brings [0, 4), round 1 passes it on; in segments of 2 elements the first goes on while the second comes.
  const RankSchedule schedule{
      {{0, 1, Kind::Reduce, Buffer::Data, {0, 4}}, {1, 2, Kind::Send, Buffer::Data, {0, 4}}}, 2, 0};
  const Plan plan = plan_of(schedule, 0, 2);
  ASSERT_EQ(plan.operations.size(), 4U);
  EXPECT_THAT(plan.operations[0].then, ElementsAre(2));
  EXPECT_THAT(plan.operations[1].then, ElementsAre(3));
  EXPECT_EQ(plan.operations[2].waits_for, 1);
  EXPECT_EQ(plan.operations[3].waits_for, 1);
  EXPECT_EQ(plan.operations[1].range, (coll::Range{2, 4}));
}

TEST(Plan, AReceiveWaitsForTheSendsAndReceivesOfItsElements) {
  const RankSchedule schedule{{{0, 1, Kind::Send, Buffer::Data, {0, 4}},
                               {1, 2, Kind::Copy, Buffer::Data, {3, 6}},
                               {2, 3, Kind::Reduce, Buffer::Data, {4, 8}}},
                              3,
                              0};
  const Plan plan = plan_of(schedule, 0, 0);
  EXPECT_THAT(plan.operations[0].then, ElementsAre(1));  // overlap at element 3
  EXPECT_THAT(plan.operations[1].then, ElementsAre(2));  // overlap at 4 and 5
  EXPECT_THAT(plan.operations[2].then, IsEmpty());
  EXPECT_EQ(plan.operations[2].waits_for, 1);
}

TEST(Plan, WhatIsSentAndReceivedInOneRoundIsStaged) {
  // Recursive doubling on two ranks: both send everything and add what comes.
  const coll::Problem problem{.ranks = 2, .elements = 5};
  const Plan plan = plan_of(coll::algorithm(coll::Collective::Allreduce, "recursive-doubling").build(problem, 0), 0, 0);
  ASSERT_EQ(plan.operations.size(), 3U);
  EXPECT_EQ(plan.operations[1].memory, Memory::Stage);
  EXPECT_EQ(plan.operations[1].waits_for, 0);  // so that neither side waits for the other's receive
  EXPECT_FALSE(plan.operations[1].reduces);
  EXPECT_EQ(plan.operations[2].kind, Operation::Kind::Local);
  EXPECT_EQ(plan.operations[2].from, Memory::Stage);
  EXPECT_EQ(plan.operations[2].waits_for, 2);
  EXPECT_TRUE(plan.operations[2].reduces);
  EXPECT_EQ(plan.stage_elements, 5);
}

TEST(Plan, ALaterReceiveForStagedElementsIsStagedTooSoThatTheOrderStays) {
  const RankSchedule schedule{{{0, 1, Kind::Send, Buffer::Data, {0, 2}},
                               {0, 1, Kind::Reduce, Buffer::Data, {0, 4}},
                               {0, 2, Kind::Reduce, Buffer::Data, {2, 4}}},
                              1,
                              0};
  const Plan plan = plan_of(schedule, 0, 0);
  ASSERT_EQ(plan.operations.size(), 5U);
  EXPECT_EQ(plan.operations[2].memory, Memory::Stage);
  EXPECT_THAT(plan.operations[3].then, ElementsAre(4));
  EXPECT_EQ(plan.stage_elements, 6);
}

/// kind, memory and, for a reduction, "with input", of every operation.
std::vector<std::string> words_of(const Plan& plan) {
  std::vector<std::string> words;
  for (const Operation& operation : plan.operations) {
    const char* const kinds[] = {"send", "receive", "local"};
    const char* const memories[] = {"data", "input", "scratch", "stage"};
    words.push_back(std::string(kinds[static_cast<int>(operation.kind)]) + " " +
                    memories[static_cast<int>(operation.memory)] + (operation.with_input ? " with input" : ""));
  }
  return words;
}

TEST(PlanFromInput, ReadsInputWhereDataHoldsNothingYet) {
  const coll::Problem problem{.ranks = 2, .elements = 6};
  const auto plan = [&](const char* name) {
    const auto list = coll::algorithm(coll::Collective::Allreduce, name).build(problem, 0);
    return plan_of(list, 0, 0, Origin::Input, problem.all());
  };
  // The ring sends block 1 and adds to block 0, then sends the sum and gets the other one.
  EXPECT_THAT(words_of(plan("ring")),
              ElementsAre("send input", "receive data with input", "send data", "receive data"));
  // Nothing is sent from where the sum arrives: no staging.
  EXPECT_THAT(words_of(plan("recursive-doubling")), ElementsAre("send input", "receive data with input"));
  EXPECT_EQ(plan("recursive-doubling").stage_elements, 0);
}

TEST(PlanFromInput, CopiesWhatTheScheduleLeavesUnwritten) {
  const coll::Problem problem{.collective = coll::Collective::Broadcast, .ranks = 2, .elements = 6};
  const auto list = coll::algorithm(coll::Collective::Broadcast, "binomial").build(problem, 0);
  const Plan plan = plan_of(list, 0, 4, Origin::Input, problem.all());
  EXPECT_THAT(words_of(plan), ElementsAre("send input", "send input", "local data", "local data"));
  EXPECT_EQ(plan.operations[3].from, Memory::Input);
  EXPECT_EQ(plan.operations[3].range, (coll::Range{4, 6}));
  EXPECT_EQ(plan.operations[3].source_begin, 4);
}

TEST(PlanFromInput, FillsInWhatATransferNeedsBesideWrittenElements) {
  const RankSchedule schedule{
      {{0, 1, Kind::Copy, Buffer::Data, {0, 2}}, {1, 2, Kind::Send, Buffer::Data, {0, 4}}}, 2, 0};
  const Plan plan = plan_of(schedule, 0, 0, Origin::Input, {0, 4});
  EXPECT_THAT(words_of(plan), ElementsAre("receive data", "local data", "send data"));
  EXPECT_EQ(plan.operations[1].range, (coll::Range{2, 4}));
  EXPECT_EQ(plan.operations[2].waits_for, 2);
}

TEST(Plan, MovesInsideARankAreLocal) {
  const RankSchedule schedule{
      {{0, 7, Kind::Send, Buffer::Input, {4, 6}}, {0, 7, Kind::Copy, Buffer::Data, {0, 2}}}, 1, 0};
  const Plan plan = plan_of(schedule, 7, 1);
  ASSERT_EQ(plan.operations.size(), 2U);
  EXPECT_EQ(plan.operations[1].kind, Operation::Kind::Local);
  EXPECT_EQ(plan.operations[1].from, Memory::Input);
  EXPECT_EQ(plan.operations[1].source_begin, 5);
  EXPECT_EQ(plan.operations[1].range, (coll::Range{1, 2}));
}

}  // namespace
}  // namespace eflops::comm
