#include "bench/pattern.h"

#include <gtest/gtest.h>

#include "coll/algorithms.h"
#include "comm/collective.h"
#include "comm/inproc_transport.h"

namespace eflops::bench {
namespace {

using coll::Collective;
using coll::Problem;
using kernels::Element;
using kernels::Reduction;

constexpr std::int64_t kElements = 9000;  // more than two periods

using Bytes = std::vector<std::byte>;

/// The result of one run on every rank.
std::vector<Bytes> results(const Problem& problem, Element element, Reduction reduction, std::int64_t run) {
  std::vector<Bytes> all(static_cast<std::size_t>(problem.ranks));
  const Pattern pattern(element, reduction, problem);
  comm::run_inproc(problem.ranks, [&](comm::Transport& transport) {
    const auto name = coll::algorithm_names(problem.collective).front();
    const auto prepared =
        comm::prepare_scheduled(transport, coll::algorithm(problem.collective, name), problem,
                                coll::RankMap::in_order(problem.ranks), {.element = element, .reduction = reduction});
    Bytes in(static_cast<std::size_t>(problem.elements * kernels::bytes_of(element)));
    Bytes& out = all[static_cast<std::size_t>(transport.rank())];
    out.resize(in.size());
    Pattern::poison(out);
    pattern.fill(in, transport.rank(), run);
    prepared->run(in, out, comm::deadline_after(60));
  });
  return all;
}

TEST(Pattern, ARightResultHasNoWrongElementInAnyTypeReductionAndNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 7}) {
    for (const Element element : kernels::kElements) {
      for (const Reduction reduction : kernels::kReductions) {
        const Problem problem{.ranks = ranks, .elements = kElements};
        const Pattern pattern(element, reduction, problem);
        const auto all = results(problem, element, reduction, 3);
        for (int rank = 0; rank < ranks; ++rank) {
          ASSERT_EQ(pattern.count_wrong(all[static_cast<std::size_t>(rank)], rank, 3), 0)
              << kernels::element_name(element) << " " << kernels::reduction_name(reduction) << " p=" << ranks;
        }
      }
    }
  }
}

// known_faults C14: a checker that misses errors, or invents them.
TEST(Pattern, OneFlippedBitAnywhereIsCaught) {
  for (const Collective collective : {Collective::Allreduce, Collective::ReduceScatter, Collective::AllGather,
                                      Collective::Broadcast, Collective::AllToAll}) {
    for (const Element element : {Element::F32, Element::BF16, Element::I8}) {
      const Problem problem{.collective = collective, .ranks = 3, .elements = kElements};
      const Pattern pattern(element, Reduction::Sum, problem);
      auto all = results(problem, element, Reduction::Sum, 1);
      for (int rank = 0; rank < 3; ++rank) {
        Bytes& result = all[static_cast<std::size_t>(rank)];
        ASSERT_EQ(pattern.count_wrong(result, rank, 1), 0) << coll::collective_name(collective);
        const coll::Range counted =
            collective == Collective::ReduceScatter ? coll::block_of(problem.all(), 3, rank) : problem.all();
        const std::int64_t bytes = kernels::bytes_of(element);
        for (const std::int64_t at : {counted.begin, counted.begin + 1500, counted.end - 1}) {
          for (const int bit : {0, 7}) {
            std::byte& spoilt = result[static_cast<std::size_t>(at * bytes)];
            spoilt ^= std::byte{1} << bit;
            EXPECT_EQ(pattern.count_wrong(result, rank, 1), 1);
            spoilt ^= std::byte{1} << bit;
          }
        }
      }
    }
  }
}

TEST(Pattern, PoisonAndStaleResultsAreWrong) {
  for (const Element element : kernels::kElements) {
    const Problem problem{.ranks = 3, .elements = kElements};
    const Pattern pattern(element, Reduction::Sum, problem);
    Bytes result(static_cast<std::size_t>(kElements * kernels::bytes_of(element)));
    Pattern::poison(result);
    EXPECT_EQ(pattern.count_wrong(result, 0, 1), kElements) << kernels::element_name(element);
    // The result of another run: small types have few values, so some elements agree by chance.
    const Bytes stale = results(problem, element, Reduction::Sum, 1)[0];
    EXPECT_GT(pattern.count_wrong(stale, 0, 2), kElements / 2) << kernels::element_name(element);
  }
}

TEST(Pattern, BlocksInEachOthersPlaceAreWrong) {
  const Problem problem{.ranks = 2, .elements = kElements};
  const Pattern pattern(Element::F32, Reduction::Sum, problem);
  Bytes result = results(problem, Element::F32, Reduction::Sum, 1)[0];
  std::swap_ranges(result.begin(), result.begin() + 4096, result.begin() + 4096);
  EXPECT_GT(pattern.count_wrong(result, 0, 1), 1000);
}

}  // namespace
}  // namespace eflops::bench
