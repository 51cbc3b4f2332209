#include "programs/bench_rows.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "coll/algorithms.h"

namespace eflops::programs {
namespace {

using coll::Collective;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BenchOptions small() {
  BenchOptions options;
  options.begin = "1K";
  options.end = "4K";
  return options;
}

template <typename Body>
std::string refusal(const Body& body) {
  try {
    body();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(BenchRows, AreSizesThenAlgorithmsThenPlaces) {
  BenchOptions options = small();
  options.factor = 4;
  options.algorithm = {"ring", "direct"};
  std::vector<std::string> rows;
  for (const PlannedRow& row : plan_rows(Collective::Allreduce, options, {4})) {
    rows.push_back(fmt::format("{} {} {}", row.request.problem.elements, row.algorithm,
                               row.request.place == bench::Place::Out ? "out" : "in"));
  }
  EXPECT_THAT(rows, ElementsAre("256 ring out", "256 ring in", "256 direct out", "256 direct in", "1024 ring out",
                                "1024 ring in", "1024 direct out", "1024 direct in"));
}

TEST(BenchRows, RoundSizesDownToWholeElementsAndBlocks) {
  BenchOptions options = small();
  options.begin = options.end = "1003";
  options.element = "f64";
  EXPECT_EQ(plan_rows(Collective::Allreduce, options, {3})[0].request.problem.elements, 125);
  EXPECT_EQ(plan_rows(Collective::AllToAll, options, {3})[0].request.problem.elements, 123);
}

TEST(BenchRows, AllNamesEveryAlgorithmOfTheCollective) {
  BenchOptions options = small();
  options.end = "1K";
  options.algorithm = {"all"};
  options.place = PlaceChoice::Out;
  EXPECT_EQ(plan_rows(Collective::Allreduce, options, {4}).size(), coll::algorithm_names(Collective::Allreduce).size());
}

TEST(BenchRows, AFixedNumberOfIterationsIsTakenWhateverItTakes) {
  BenchOptions options = small();
  options.iterations = 7;
  const bench::Iterations iterations = plan_rows(Collective::Allreduce, options, {2})[0].request.iterations;
  EXPECT_EQ(iterations.least, 7);
  EXPECT_EQ(iterations.most, 7);
  EXPECT_EQ(iterations.precision, 0);
  EXPECT_GT(iterations.seconds, 1e6);
}

TEST(BenchRows, StreamingLeavesOutTheRowsInPlace) {
  BenchOptions options = small();
  options.cadence = bench::Cadence::Streaming;
  for (const PlannedRow& row : plan_rows(Collective::Allreduce, options, {2})) {
    EXPECT_EQ(row.request.place, bench::Place::Out);
  }
  options.place = PlaceChoice::In;
  EXPECT_THAT(refusal([&] { plan_rows(Collective::Allreduce, options, {2}); }), HasSubstr("needs place out"));
}

TEST(BenchRows, AutomaticChoicesExistAndCanDoTheirProblem) {
  for (const Collective collective : {Collective::Allreduce, Collective::ReduceScatter, Collective::AllGather,
                                      Collective::Broadcast, Collective::AllToAll}) {
    for (const int ranks : {1, 2, 3, 8, 12, 64}) {
      for (const std::int64_t bytes : {0L, 4096L, 1L << 20}) {
        for (const bool one_server : {true, false}) {
          const coll::Algorithm& chosen =
              coll::algorithm(collective, automatic(collective, {ranks}, bytes, one_server));
          EXPECT_FALSE(chosen.refuses({.collective = collective, .ranks = ranks, .elements = 64L * ranks}));
        }
      }
    }
  }
}

TEST(BenchRows, RanksThatSeeEachOthersMemoryReduceInOnePass) {
  BenchOptions options = small();
  options.end = "1K";
  options.place = PlaceChoice::Out;
  EXPECT_EQ(plan_rows(Collective::Allreduce, options, {2, true})[0].algorithm, "one-pass");
  EXPECT_EQ(plan_rows(Collective::Allreduce, options, {2, false})[0].algorithm, "recursive-doubling");
  EXPECT_EQ(plan_rows(Collective::AllGather, options, {2, true})[0].algorithm, "direct");
  options.algorithm = {"all"};
  const auto rows = [&](bool see_memory) { return plan_rows(Collective::Allreduce, options, {2, see_memory}).size(); };
  EXPECT_EQ(rows(true), rows(false) + 1);
  // Where it is asked for by name, the row says why it cannot run.
  options.algorithm = {"one-pass"};
  EXPECT_EQ(plan_rows(Collective::Allreduce, options, {2, false})[0].algorithm, "one-pass");
}

TEST(BenchRows, ARandomOrderHasEverySizeOnceAndComesFromTheSeed) {
  BenchOptions options = small();
  options.end = "1M";
  options.place = PlaceChoice::Out;
  const auto sizes = [&] {
    std::vector<std::int64_t> found;
    for (const PlannedRow& row : plan_rows(Collective::Allreduce, options, {2})) {
      found.push_back(row.request.problem.elements);
    }
    return found;
  };
  const std::vector<std::int64_t> in_order = sizes();
  options.order = OrderChoice::Random;
  const std::vector<std::int64_t> drawn = sizes();
  EXPECT_NE(drawn, in_order);
  EXPECT_THAT(drawn, testing::UnorderedElementsAreArray(in_order));
  EXPECT_EQ(sizes(), drawn);
  options.seed = 2;
  EXPECT_NE(sizes(), drawn);
}

TEST(BenchRows, RankMapsAreThoseOfTheOptions) {
  BenchOptions options;
  options.servers = 4;
  options.map = MapChoice::RoundRobin;
  EXPECT_EQ(rank_map(options, 8).place_of(1), 2);
  options.map = MapChoice::Hdrm;
  EXPECT_EQ(rank_map(options, 8).places(), coll::RankMap::hdrm(2, 4).places());
  EXPECT_THAT(refusal([&] { rank_map(options, 6); }), HasSubstr("4 servers do not divide 6 ranks"));
  options.map = MapChoice::Random;
  EXPECT_EQ(rank_map(options, 8).places(), coll::RankMap::random(8, 1).places());
}

TEST(BenchNames, OfTypesAndReductionsAreThoseOfBothWorlds) {
  using kernels::Element;
  for (const char* name : {"f32", "float", "float32", "fp32"}) EXPECT_EQ(element_named(name), Element::F32);
  EXPECT_EQ(element_named("half"), Element::F16);
  EXPECT_EQ(element_named("uint64"), Element::U64);
  EXPECT_THAT(refusal([] { element_named("float128"); }), HasSubstr("'float128' is no element type"));
  EXPECT_EQ(reduction_named("avg"), kernels::Reduction::Average);
  EXPECT_THAT(refusal([] { reduction_named("mulsum"); }), HasSubstr("there are sum prod min max avg"));
}

}  // namespace
}  // namespace eflops::programs
