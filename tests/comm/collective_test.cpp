#include "comm/collective.h"

#include <gmock/gmock.h>

#include <cstring>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/float16.h"
#include "base/random.h"
#include "tests/coll/problems.h"
#include "tests/comm/transport_cases.h"

namespace eflops::comm {
namespace {

using coll::Collective;
using coll::Problem;
using kernels::Element;
using kernels::Reduction;

constexpr double kPatience = 120;

class Collectives : public testing::TestWithParam<test::TransportCase> {};

/// What rank `rank` contributes at `element` in run `run`: a small integer, so that sums over all ranks are exact in
/// i32.
std::int32_t contribution(int rank, std::int64_t element, int run) {
  return static_cast<std::int32_t>((element * 7 + rank * 31 + run * 13) % 1000);
}

/// What rank's output must hold at `element`, or -1 where the collective leaves it open.
std::int32_t expected(const Problem& problem, int rank, std::int64_t element, int run) {
  const coll::Range own = coll::block_of(problem.all(), problem.ranks, rank);
  switch (problem.collective) {
    case Collective::ReduceScatter:
      if (element < own.begin || element >= own.end) return -1;
      [[fallthrough]];
    case Collective::Allreduce: {
      std::int32_t sum = 0;
      for (int from = 0; from < problem.ranks; ++from) sum += contribution(from, element, run);
      return sum;
    }
    case Collective::Broadcast:
      return contribution(problem.root, element, run);
    case Collective::AllGather: {
      int owner = 0;
      while (coll::block_of(problem.all(), problem.ranks, owner).end <= element) ++owner;
      return contribution(owner, element, run);
    }
    case Collective::AllToAll: {
      const std::int64_t block = problem.elements / problem.ranks;
      return contribution(static_cast<int>(element / block), rank * block + element % block, run);
    }
  }
  return -1;
}

enum class Place { In, Out };

void run_and_check(Transport& transport, const coll::Algorithm& algorithm, const Problem& problem,
                   const coll::RankMap& map, std::int64_t segment_bytes, Place place) {
  const auto prepared =
      prepare_scheduled(transport, algorithm, problem, map, {.element = Element::I32, .segment_bytes = segment_bytes});
  const auto n = static_cast<std::size_t>(problem.elements);
  std::vector<std::int32_t> in(n);
  std::vector<std::int32_t> out(n);
  for (int run = 0; run < 3; ++run) {
    for (std::size_t i = 0; i < n; ++i) in[i] = contribution(transport.rank(), static_cast<std::int64_t>(i), run);
    const std::vector<std::int32_t> before = in;
    std::fill(out.begin(), out.end(), -12345);
    std::vector<std::int32_t>& result = place == Place::In ? in : out;
    prepared->run(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(result)), deadline_after(kPatience));
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t wanted = expected(problem, transport.rank(), static_cast<std::int64_t>(i), run);
      if (wanted != -1) {
        ASSERT_EQ(result[i], wanted) << coll::test::described(algorithm, problem) << " at " << i;
      }
      if (place == Place::Out) {
        ASSERT_EQ(in[i], before[i]) << "the input was changed";
      }
    }
  }
}

TEST_P(Collectives, AreExactOnEveryRankForAllAlgorithmsAndAwkwardSizes) {
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8}) {
    GetParam().run(ranks, [&](Transport& transport) {
      coll::test::for_each_problem(ranks, [&](const coll::Algorithm& algorithm, const Problem& problem) {
        const coll::RankMap map = coll::RankMap::in_order(ranks);
        run_and_check(transport, algorithm, problem, map, 0, Place::Out);
        run_and_check(transport, algorithm, problem, map, 8, Place::In);  // segments of two elements
      });
    });
  }
}

TEST_P(Collectives, AreExactForLargeData) {
  for (const int ranks : {2, 4, 6}) {
    GetParam().run(ranks, [&](Transport& transport) {
      for (const coll::Algorithm& algorithm : coll::algorithms()) {
        Problem problem{.collective = algorithm.collective, .ranks = ranks, .elements = 60000, .group_size = 2};
        if (algorithm.refuses(problem)) continue;
        run_and_check(transport, algorithm, problem, coll::RankMap::in_order(ranks), 16 << 10, Place::Out);
      }
    });
  }
}

TEST_P(Collectives, RunOnAnyRankMap) {
  GetParam().run(8, [](Transport& transport) {
    for (const coll::RankMap& map :
         {coll::RankMap::hdrm(2, 4), coll::RankMap::round_robin(8, 4), coll::RankMap::random(8, 5)}) {
      for (const std::string_view name : coll::algorithm_names(Collective::Allreduce)) {
        const Problem problem{.ranks = 8, .elements = 101, .group_size = 4};
        run_and_check(transport, coll::algorithm(Collective::Allreduce, name), problem, map, 16, Place::Out);
      }
      const Problem problem{.collective = Collective::Broadcast, .ranks = 8, .elements = 101, .root = 3};
      run_and_check(transport, coll::algorithm(Collective::Broadcast, "scatter-ring"), problem, map, 16, Place::Out);
    }
  });
}

// known_faults C1: doubles in place from 4 ranks on; here bit for bit, against the tree that the schedule promises.
TEST_P(Collectives, NearestFirstSumsOfDoublesHaveTheBitsOfTheBalancedTree) {
  const int ranks = 8;
  const std::size_t n = 999;
  const auto value = [](int rank, std::size_t i) {
    return Random(static_cast<std::uint64_t>(rank), Purpose::Test, i).normal();
  };
  GetParam().run(ranks, [&](Transport& transport) {
    for (const std::string_view name : {"halving-doubling", "recursive-doubling", "hierarchical"}) {
      const Problem problem{.ranks = ranks, .elements = static_cast<std::int64_t>(n), .group_size = 4};
      const auto prepared = prepare_scheduled(transport, coll::algorithm(Collective::Allreduce, name), problem,
                                              coll::RankMap::in_order(ranks), {.element = Element::F64});
      std::vector<double> data(n);
      for (std::size_t i = 0; i < n; ++i) data[i] = value(transport.rank(), i);
      prepared->run(std::as_bytes(std::span(data)), std::as_writable_bytes(std::span(data)), deadline_after(kPatience));
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> level;
        for (int rank = 0; rank < ranks; ++rank) level.push_back(value(rank, i));
        for (; level.size() > 1; level.resize(level.size() / 2)) {
          for (std::size_t k = 0; k < level.size() / 2; ++k) level[k] = level[2 * k] + level[2 * k + 1];
        }
        ASSERT_EQ(data[i], level[0]) << name << " at " << i;
      }
    }
  });
}

// known_faults C10, C11: averages on integers, and for numbers of ranks that are no powers of two.
TEST_P(Collectives, AverageIsTheSumOverTheRanks) {
  for (const int ranks : {2, 3, 7}) {
    GetParam().run(ranks, [&](Transport& transport) {
      for (const Collective collective : {Collective::Allreduce, Collective::ReduceScatter}) {
        const Problem problem{.collective = collective, .ranks = ranks, .elements = 50};
        const auto prepared =
            prepare_scheduled(transport, coll::algorithm(collective, "ring"), problem, coll::RankMap::in_order(ranks),
                              {.element = Element::I32, .reduction = Reduction::Average});
        // Rank r holds -10 r - 1: the sum is -5 p (p-1) - p, its mean truncated toward zero -(5 (p-1) + 1).
        std::vector<std::int32_t> data(50, -10 * transport.rank() - 1);
        prepared->run(std::as_bytes(std::span(data)), std::as_writable_bytes(std::span(data)),
                      deadline_after(kPatience));
        const coll::Range own = collective == Collective::Allreduce
                                    ? problem.all()
                                    : coll::block_of(problem.all(), ranks, transport.rank());
        for (std::int64_t i = own.begin; i < own.end; ++i) {
          ASSERT_EQ(data[static_cast<std::size_t>(i)], -(5 * (ranks - 1) + 1));
        }
      }
    });
  }
}

// One element of each type: rank r contributes r + 1 on 3 ranks; 1, 2, 3 are exact in all of them.
TEST_P(Collectives, EveryElementTypeAndReduction) {
  const auto run_type = [&]<typename T>(Element element, auto make) {
    GetParam().run(3, [&](Transport& transport) {
      const std::pair<Reduction, int> answers[] = {{Reduction::Sum, 6},
                                                   {Reduction::Product, 6},
                                                   {Reduction::Min, 1},
                                                   {Reduction::Max, 3},
                                                   {Reduction::Average, 2}};
      for (const auto& [reduction, answer] : answers) {
        const Problem problem{.ranks = 3, .elements = 37};
        const auto prepared =
            prepare_scheduled(transport, coll::algorithm(Collective::Allreduce, "ring"), problem,
                              coll::RankMap::in_order(3), {.element = element, .reduction = reduction});
        std::vector<T> data(37, make(transport.rank() + 1));
        prepared->run(std::as_bytes(std::span(data)), std::as_writable_bytes(std::span(data)),
                      deadline_after(kPatience));
        for (const T& value : data) {
          const T wanted = make(answer);
          ASSERT_EQ(std::memcmp(&value, &wanted, sizeof(T)), 0)
              << kernels::element_name(element) << " " << kernels::reduction_name(reduction);
        }
      }
    });
  };
  run_type.operator()<float>(Element::F32, [](int x) { return static_cast<float>(x); });
  run_type.operator()<double>(Element::F64, [](int x) { return static_cast<double>(x); });
  run_type.operator()<bf16>(Element::BF16, [](int x) { return to_bf16(static_cast<float>(x)); });
  run_type.operator()<f16>(Element::F16, [](int x) { return to_f16(static_cast<float>(x)); });
  run_type.operator()<std::int8_t>(Element::I8, [](int x) { return static_cast<std::int8_t>(x); });
  run_type.operator()<std::uint8_t>(Element::U8, [](int x) { return static_cast<std::uint8_t>(x); });
  run_type.operator()<std::int32_t>(Element::I32, [](int x) { return x; });
  run_type.operator()<std::uint32_t>(Element::U32, [](int x) { return static_cast<std::uint32_t>(x); });
  run_type.operator()<std::int64_t>(Element::I64, [](int x) { return std::int64_t{x}; });
  run_type.operator()<std::uint64_t>(Element::U64, [](int x) { return static_cast<std::uint64_t>(x); });
}

TEST_P(Collectives, AMissingRankEndsTheOthersAtTheirDeadline) {
  std::string reason;
  try {
    GetParam().run(3, [](Transport& transport) {
      if (transport.rank() == 2) return;
      const Problem problem{.ranks = 3, .elements = 1000};
      const auto prepared = prepare_scheduled(transport, coll::algorithm(Collective::Allreduce, "ring"), problem,
                                              coll::RankMap::in_order(3), {});
      std::vector<float> data(1000);
      prepared->run(std::as_bytes(std::span(data)), std::as_writable_bytes(std::span(data)), deadline_after(0.2));
    });
  } catch (const Error& error) {  // the rank that waited, or another one that it told
    reason = error.what();
  }
  EXPECT_THAT(reason, testing::ContainsRegex("rank [01] has waited [0-9.]+ s to (send|receive) 133[26] bytes"));
}

INSTANTIATE_TEST_SUITE_P(All, Collectives, testing::ValuesIn(test::transport_cases()), test::name_of);

}  // namespace
}  // namespace eflops::comm
