#include "bench/measure.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/stats.h"
#include "coll/algorithms.h"
#include "comm/inproc_transport.h"

namespace eflops::bench {
namespace {

using coll::Collective;

RowRequest request() {
  return {.problem = {.ranks = 3, .elements = 5000},
          .execution = {.element = kernels::Element::F32, .segment_bytes = 4096},
          .iterations = {.warmup = 2, .least = 7, .most = 30, .precision = 0, .seconds = 60}};
}

std::unique_ptr<comm::PreparedCollective> ring(comm::Transport& transport, const RowRequest& row) {
  return comm::prepare_scheduled(transport, coll::algorithm(row.problem.collective, "ring"), row.problem,
                                 coll::RankMap::in_order(row.problem.ranks), row.execution);
}

RowResult measured(const RowRequest& row, bool registered = false) {
  RowResult result;
  comm::run_inproc(row.problem.ranks, [&](comm::Transport& transport) {
    const auto prepared = ring(transport, row);
    const Candidate one{prepared.get(), row};
    const RowResult mine = measure(transport, {&one, 1}, registered).front();
    if (transport.rank() == 0) {
      result = mine;
    } else {
      EXPECT_TRUE(mine.seconds.empty());
    }
  });
  return result;
}

TEST(Measure, TakesAsManyIterationsAsAskedAndChecksEach) {
  for (const Place place : {Place::Out, Place::In}) {
    for (const Cache cache : {Cache::Hot, Cache::Cold}) {
      RowRequest row = request();
      row.place = place;
      row.cache = cache;
      const RowResult result = measured(row, place == Place::In);
      EXPECT_EQ(result.seconds.size(), 30U);
      EXPECT_THAT(result.seconds, testing::Each(testing::Gt(0)));
      EXPECT_EQ(result.checked, 30);
      EXPECT_EQ(result.wrong, 0);
      EXPECT_FALSE(result.is_precise);
    }
  }
}

TEST(Measure, StopsWhenTheIntervalIsNarrowOrTheTimeIsUp) {
  RowRequest row = request();
  row.iterations.precision = 1e9;  // any interval will do
  RowResult result = measured(row);
  EXPECT_GE(result.seconds.size(), 7U);
  EXPECT_LT(result.seconds.size(), 30U);
  EXPECT_TRUE(result.is_precise);
  row = request();
  row.iterations.seconds = 0;
  EXPECT_EQ(measured(row).seconds.size(), 1U);
}

TEST(Measure, StreamingTimesABatchAndChecksItsEnd) {
  RowRequest row = request();
  row.cadence = Cadence::Streaming;
  row.iterations.most = 10;
  const RowResult result = measured(row);
  EXPECT_EQ(result.seconds.size(), 10U);
  EXPECT_EQ(result.checked, 10);
  row.place = Place::In;
  EXPECT_THROW(measured(row), ConfigError);
}

/// Does what another collective does and then spoils an element on one rank, in one run.
class Spoiled final : public comm::PreparedCollective {
 public:
  Spoiled(comm::PreparedCollective& real, int rank) : real_(real), rank_(rank) {}
  std::string algorithm() const override { return real_.algorithm(); }
  void run(std::span<const std::byte> in, std::span<std::byte> out, comm::Deadline deadline) override {
    real_.run(in, out, deadline);
    if (rank_ == 2 && ++runs_ == 9) out[out.size() - 1] ^= std::byte{1};
  }

 private:
  comm::PreparedCollective& real_;
  int rank_;
  int runs_ = 0;
};

TEST(Measure, OneWrongElementOnOneRankInOneIterationIsCounted) {
  const RowRequest row = request();
  RowResult result;
  comm::run_inproc(3, [&](comm::Transport& transport) {
    const auto prepared = ring(transport, row);
    Spoiled spoiled(*prepared, transport.rank());
    const Candidate one{&spoiled, row};
    const RowResult mine = measure(transport, {&one, 1}, false).front();
    if (transport.rank() == 0) result = mine;
  });
  EXPECT_EQ(result.wrong, 1);
}

/// Writes down when it ran.
class Noted final : public comm::PreparedCollective {
 public:
  Noted(comm::PreparedCollective& real, char name, std::string& notes) : real_(real), name_(name), notes_(notes) {}
  std::string algorithm() const override { return real_.algorithm(); }
  void run(std::span<const std::byte> in, std::span<std::byte> out, comm::Deadline deadline) override {
    real_.run(in, out, deadline);
    notes_ += name_;
  }

 private:
  comm::PreparedCollective& real_;
  char name_;
  std::string& notes_;
};

TEST(Measure, CandidatesTakeTurnsAndKeepTheirOwnResults) {
  RowRequest row = request();
  row.iterations.warmup = 0;
  row.iterations.most = 60;
  RowRequest in_place = row;
  in_place.place = Place::In;
  in_place.iterations.most = 45;
  comm::run_inproc(3, [&](comm::Transport& transport) {
    const auto prepared = ring(transport, row);
    std::string notes;
    Noted a(*prepared, 'a', notes);
    Noted b(*prepared, 'b', notes);
    const std::array<Candidate, 2> both{Candidate{&a, row}, Candidate{&b, in_place}};
    const std::vector<RowResult> results = measure(transport, both, true);
    // First one iteration each, to know how long they take, then batches of at most 20.
    EXPECT_EQ(notes.substr(0, 2), "ab");
    EXPECT_EQ(std::ranges::count(notes, 'a'), 60);
    EXPECT_EQ(std::ranges::count(notes, 'b'), 45);
    EXPECT_EQ(notes.find(std::string(21, 'a')), std::string::npos);
    for (const RowResult& result : results) EXPECT_EQ(result.wrong, 0);
    if (transport.rank() == 0) {
      EXPECT_EQ(results[0].seconds.size(), 60U);
      EXPECT_EQ(results[1].seconds.size(), 45U);
    }
  });
}

TEST(Measure, TimesEmptyBuffersToo) {
  RowRequest row = request();
  row.problem.elements = 0;
  EXPECT_EQ(measured(row).wrong, 0);
  EXPECT_EQ(measured(row, true).seconds.size(), 30U);
}

}  // namespace
}  // namespace eflops::bench
