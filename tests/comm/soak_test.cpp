// Long runs and large sizes, for scripts/test --full.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "comm/collective.h"
#include "comm/small_collectives.h"
#include "machine/machine.h"
#include "tests/comm/transport_cases.h"

namespace eflops::comm {
namespace {

using coll::Collective;
using coll::Problem;
using kernels::Element;

class Soak : public testing::TestWithParam<test::TransportCase> {};

std::int64_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{});
}

/// Resident memory of this process.
std::int64_t resident_bytes() {
  std::int64_t total = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

/// Rank 0 looks while the others wait: to look opens a file, and ranks may be threads of one process.
void look(Transport& transport, const auto& body) {
  barrier(transport, deadline_after(60));
  if (transport.rank() == 0) body();
  barrier(transport, deadline_after(60));
}

TEST_P(Soak, TenThousandRunsWithChangingDataAreRightAndLeaveNothingBehind) {
  constexpr int kRuns = 10000;
  constexpr std::int64_t kElements = 257;
  for (const int ranks : {2, 3, 4, 7}) {
    GetParam().run(ranks, [&](Transport& transport) {
      std::vector<std::unique_ptr<PreparedCollective>> prepared;
      for (const std::string_view name : {"ring", "recursive-doubling", "halving-doubling", "direct", "double-tree"}) {
        prepared.push_back(prepare_scheduled(transport, coll::algorithm(Collective::Allreduce, name),
                                             {.ranks = ranks, .elements = kElements}, coll::RankMap::in_order(ranks),
                                             {.element = Element::I32, .segment_bytes = 300}));
      }
      std::vector<std::int32_t> in(kElements);
      std::vector<std::int32_t> out(kElements);
      std::int64_t files = 0;
      std::int64_t memory = 0;
      for (int run = 0; run < kRuns; ++run) {
        for (int i = 0; i < kElements; ++i) in[static_cast<std::size_t>(i)] = run * 3 + i * (transport.rank() + 1);
        prepared[static_cast<std::size_t>(run) % prepared.size()]->run(
            std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), deadline_after(60));
        for (int i = 0; i < kElements; ++i) {
          // Sum over r of 3 run + i (r + 1).
          ASSERT_EQ(out[static_cast<std::size_t>(i)], 3 * run * ranks + i * ranks * (ranks + 1) / 2) << "run " << run;
        }
        if (run == kRuns / 5) look(transport, [&] { files = open_files(), memory = resident_bytes(); });
      }
      look(transport, [&] {
        EXPECT_EQ(open_files(), files);
        EXPECT_LT(resident_bytes() - memory, 4 << 20);
      });
    });
  }
}

// known_faults C4, C5: counts and bytes beyond 32 bits.
TEST_P(Soak, MoreThanTwoToThe31Elements) {
  const std::int64_t elements = (std::int64_t{1} << 31) + 12345;
  // Two ranks in place, and what a transport stages.
  const auto needed = static_cast<std::uint64_t>(elements) * 3;
  if (machine::inspect().memory_available_bytes < needed) GTEST_SKIP() << "needs " << needed << " bytes of free memory";
  GetParam().run(2, [&](Transport& transport) {
    const Problem problem{.ranks = 2, .elements = elements};
    const auto prepared =
        prepare_scheduled(transport, coll::algorithm(Collective::Allreduce, "direct"), problem,
                          coll::RankMap::in_order(2), {.element = Element::U8, .segment_bytes = 1 << 20});
    const auto memory = transport.allocate(elements);
    const std::span<std::byte> data(memory.get(), static_cast<std::size_t>(elements));
    for (std::int64_t i = 0; i < elements; ++i) {
      memory.get()[i] = static_cast<std::byte>((i * 7 + transport.rank()) % 101);
    }
    prepared->run(data, data, deadline_after(300));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < elements; ++i) {
      wrong += memory.get()[i] != static_cast<std::byte>((i * 7) % 101 + (i * 7 + 1) % 101) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Soak, testing::ValuesIn(test::transport_cases()), test::name_of);

}  // namespace
}  // namespace eflops::comm
