#include "comm/one_pass.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/error.h"
#include "comm/inproc_bootstrap.h"
#include "comm/inproc_transport.h"
#include "comm/shm_layout.h"
#include "comm/shm_transport.h"

namespace eflops::comm {
namespace {

using kernels::Element;
using kernels::Reduction;
using ::testing::HasSubstr;

enum class Memory { Shared, Private, Mixed };  // mixed: shared on the even ranks

constexpr double kPatience = 60;

void on_shm(int ranks, const std::function<void(Transport&)>& body) {
  run_threads(
      ranks, [](Bootstrap& bootstrap) { return make_shm_transport(bootstrap); }, body);
}

std::shared_ptr<std::byte> memory_of(Transport& transport, std::int64_t bytes, Memory memory) {
  const bool shared = memory == Memory::Shared || (memory == Memory::Mixed && transport.rank() % 2 == 0);
  if (shared) return transport.allocate(bytes);
  return {new std::byte[static_cast<std::size_t>(bytes)], std::default_delete<std::byte[]>()};
}

std::int32_t contribution(int rank, std::int64_t element, int run) {
  return static_cast<std::int32_t>((element * 7 + rank * 31 + run * 13) % 1000);
}

/// Three runs of `n` numbers that begin `shift` elements behind the begin of their memory.
void run_and_check(Transport& transport, std::int64_t n, std::int64_t shift, Memory memory, bool in_place) {
  const auto prepared =
      prepare_one_pass_allreduce(transport, {.ranks = transport.size(), .elements = n}, {.element = Element::I32});
  const std::int64_t bytes = (n + shift + 1) * 4;
  const auto in_memory = memory_of(transport, bytes, memory);
  const auto out_memory = memory_of(transport, bytes, memory);
  auto* const in = reinterpret_cast<std::int32_t*>(in_memory.get()) + shift;
  auto* const out = in_place ? in : reinterpret_cast<std::int32_t*>(out_memory.get()) + shift;
  const auto count = static_cast<std::size_t>(n);
  for (int run = 0; run < 3; ++run) {
    for (std::int64_t i = 0; i < n; ++i) {
      out[i] = -1;
      in[i] = contribution(transport.rank(), i, run);
    }
    out[n] = 4711;
    prepared->run(std::as_bytes(std::span(in, count)), std::as_writable_bytes(std::span(out, count)),
                  deadline_after(kPatience));
    for (std::int64_t i = 0; i < n; ++i) {
      std::int32_t sum = 0;
      for (int rank = 0; rank < transport.size(); ++rank) sum += contribution(rank, i, run);
      ASSERT_EQ(out[i], sum) << "n=" << n << " shift " << shift << " at " << i;
      const std::int32_t kept = in_place ? sum : contribution(transport.rank(), i, run);
      ASSERT_EQ(in[i], kept) << "the input was changed";
    }
    ASSERT_EQ(out[n], 4711) << "written behind the end, n=" << n;
  }
}

TEST(OnePass, IsExactForAllSizesPlacesAndKindsOfMemory) {
  constexpr std::int64_t kPiece = Board::kPieceBytes / 4;
  for (const int ranks : {1, 2, 3, 4, 7}) {
    on_shm(ranks, [](Transport& transport) {
      for (const Memory memory : {Memory::Shared, Memory::Private, Memory::Mixed}) {
        for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{12}, std::int64_t{13},
                                     std::int64_t{1024}, std::int64_t{1025}, 3 * kPiece + 5}) {
          run_and_check(transport, n, 0, memory, false);
          run_and_check(transport, n, 3, memory, true);
        }
      }
    });
  }
}

// All data together are larger than a last-level cache of 32 MiB, so that there the results go past it.
TEST(OnePass, IsExactBeyondTheCaches) {
  on_shm(2, [](Transport& transport) { run_and_check(transport, (9 << 18) + 7, 1, Memory::Shared, false); });
}

TEST(OnePass, TakesAllElementsAndReductions) {
  on_shm(3, [](Transport& transport) {
    for (const Element element : kernels::kElements) {
      for (const Reduction reduction : kernels::kReductions) {
        const auto prepared = prepare_one_pass_allreduce(transport, {.ranks = 3, .elements = 2000},
                                                         {.element = element, .reduction = reduction});
        const std::int64_t bytes = 2000 * kernels::bytes_of(element);
        const auto size = static_cast<std::size_t>(bytes);
        const auto memory = transport.allocate(bytes);
        std::vector<std::byte> out(size);
        // Bits that are 0, 1 or 2 in every type's lowest byte: exact as integers, and denormal as floats.
        for (std::size_t i = 0; i < size; i += static_cast<std::size_t>(kernels::bytes_of(element))) {
          memory.get()[i] = static_cast<std::byte>((i + static_cast<std::size_t>(transport.rank())) % 3);
        }
        std::vector<std::byte> expected(memory.get(), memory.get() + size);
        std::vector<std::byte> other(size);
        for (int step = 1; step < 3; ++step) {
          for (std::size_t i = 0; i < size; i += static_cast<std::size_t>(kernels::bytes_of(element))) {
            other[i] = static_cast<std::byte>((i + static_cast<std::size_t>(transport.rank() + step)) % 3);
          }
          kernels::reduce(reduction, element, expected.data(), other.data(), expected.data(), 2000);
        }
        if (reduction == Reduction::Average) kernels::average_of(element, expected.data(), 2000, 3);
        prepared->run({memory.get(), size}, out, deadline_after(kPatience));
        ASSERT_EQ(out, expected) << kernels::element_name(element) << " " << kernels::reduction_name(reduction);
      }
    }
  });
}

TEST(OnePass, AlternatesWithOtherCollectivesAndSizes) {
  on_shm(3, [](Transport& transport) {
    for (int round = 0; round < 200; ++round) {
      run_and_check(transport, 1 + round % 20, 0, round % 2 == 0 ? Memory::Shared : Memory::Private, false);
      std::vector<std::int32_t> data(5, round);
      prepare_scheduled(transport, coll::algorithm(coll::Collective::Allreduce, "ring"), {.ranks = 3, .elements = 5},
                        coll::RankMap::in_order(3), {.element = Element::I32})
          ->run(std::as_bytes(std::span(data)), std::as_writable_bytes(std::span(data)), deadline_after(kPatience));
      ASSERT_EQ(data[4], 3 * round);
      run_and_check(transport, 3000 + round, 1, Memory::Shared, true);
    }
  });
}

TEST(OnePass, SizesThatDifferEndAllRanks) {
  for (const std::int64_t other : {std::int64_t{3}, std::int64_t{100000}}) {
    try {
      on_shm(2, [&](Transport& transport) {
        run_and_check(transport, transport.rank() == 0 ? 2 : other, 0, Memory::Shared, false);
      });
      FAIL() << "nothing was thrown";
    } catch (const CommError& error) {
      EXPECT_THAT(error.what(), HasSubstr("bytes, but rank"));
    }
  }
}

TEST(OnePass, ARankThatDoesNotComeIsNamedAtTheDeadline) {
  try {
    on_shm(3, [](Transport& transport) {
      if (transport.rank() == 2) {
        // Longer than the others' deadline; then its own call throws what they found.
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
      }
      const auto prepared = prepare_one_pass_allreduce(transport, {.ranks = 3, .elements = 1}, {});
      std::vector<std::byte> data(4);
      prepared->run(data, data, deadline_after(0.2));
    });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("for rank 2"));
  }
}

TEST(OnePass, NeedsSharedMemory) {
  run_inproc(2, [](Transport& transport) {
    EXPECT_FALSE(can_one_pass(transport));
    EXPECT_THROW(prepare_one_pass_allreduce(transport, {.ranks = 2, .elements = 1}, {}), ConfigError);
  });
}

}  // namespace
}  // namespace eflops::comm
