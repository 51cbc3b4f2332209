#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "comm/transport.h"
#include "tests/comm/transport_cases.h"

namespace eflops::comm {
namespace {

using ::testing::HasSubstr;

class TransportContract : public testing::TestWithParam<test::TransportCase> {
 protected:
  void run(int ranks, const std::function<void(Transport&)>& body) { GetParam().run(ranks, body); }
  /// What a run throws, in words.
  template <typename Expected>
  std::string error_of(int ranks, const std::function<void(Transport&)>& body) {
    try {
      run(ranks, body);
    } catch (const Expected& error) {
      return error.what();
    }
    return "";
  }
};

constexpr double kPatience = 60;  // seconds; nothing that works waits so long

template <typename T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

void wait_all(Transport& transport, std::size_t count) {
  for (std::vector<Ticket> done; done.size() < count;) transport.wait(deadline_after(kPatience), done);
}

TEST_P(TransportContract, KnowsItsRankAndSize) {
  for (const int ranks : {1, 2, 5}) {
    run(ranks, [&](Transport& transport) {
      EXPECT_EQ(transport.size(), ranks);
      EXPECT_TRUE(GetParam().name.starts_with(transport.name())) << transport.name();
      // Every rank but 0 tells rank 0 its number, which must be the one it is reached by.
      std::vector<std::int32_t> said(static_cast<std::size_t>(ranks), transport.rank());
      if (transport.rank() != 0) {
        transport.post_send(0, bytes_of(said).first(4));
        wait_all(transport, 1);
        return;
      }
      for (int peer = 1; peer < ranks; ++peer) {
        transport.post_receive(peer, bytes_of(said).subspan(4 * static_cast<std::size_t>(peer), 4), {});
      }
      wait_all(transport, said.size() - 1);
      for (int peer = 0; peer < ranks; ++peer) EXPECT_EQ(said[static_cast<std::size_t>(peer)], peer);
    });
  }
}

TEST_P(TransportContract, AllocatesZeroedAlignedMemory) {
  run(2, [](Transport& transport) {
    for (const std::int64_t bytes : {0, 1, 100, 1 << 20}) {
      const std::shared_ptr<std::byte> memory = transport.allocate(bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0U);
      EXPECT_EQ(std::count(memory.get(), memory.get() + bytes, std::byte{0}), bytes);
    }
  });
}

// Rank r sends 1, 10, ..., 10^6 bytes to every other rank at once; sizes tell the messages apart.
TEST_P(TransportContract, SendsMeetReceivesInOrderAmongAllPairsAtOnce) {
  run(4, [](Transport& transport) {
    const int rank = transport.rank();
    std::vector<std::vector<std::uint8_t>> sent;
    std::vector<std::vector<std::uint8_t>> received;
    for (int peer = 0; peer < 4; ++peer) {
      if (peer == rank) continue;
      for (std::size_t size = 1; size <= 1000000; size *= 10) {
        sent.emplace_back(size, static_cast<std::uint8_t>(16 * rank + peer));
        received.emplace_back(size, 0xFF);
      }
    }
    std::size_t index = 0;
    for (int peer = 0; peer < 4; ++peer) {
      if (peer == rank) continue;
      for (int i = 0; i < 7; ++i, ++index) {
        transport.post_receive(peer, bytes_of(received[index]), {});
        transport.post_send(peer, bytes_of(sent[index]));
      }
    }
    wait_all(transport, 2 * sent.size());
    index = 0;
    for (int peer = 0; peer < 4; ++peer) {
      if (peer == rank) continue;
      for (int i = 0; i < 7; ++i, ++index) {
        const std::vector<std::uint8_t> expected(received[index].size(), static_cast<std::uint8_t>(16 * peer + rank));
        ASSERT_TRUE(received[index] == expected) << "from " << peer << ", " << expected.size() << " bytes";
      }
    }
  });
}

TEST_P(TransportContract, ReducesWhatArrives) {
  run(3, [](Transport& transport) {
    // 1,000,003 floats: not a multiple of any segment. Rank r holds r + i mod 100.
    const std::size_t n = 1000003;
    std::vector<float> mine(n);
    for (std::size_t i = 0; i < n; ++i) mine[i] = static_cast<float>(transport.rank()) + static_cast<float>(i % 100);
    if (transport.rank() == 0) {
      for (const int peer : {2, 1}) {
        transport.post_receive(peer, bytes_of(mine), {true, kernels::Reduction::Sum, kernels::Element::F32});
        wait_all(transport, 1);
      }
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(mine[i], 3.0F + 3.0F * static_cast<float>(i % 100));
    } else {
      transport.post_send(0, bytes_of(mine));
      wait_all(transport, 1);
    }
  });
}

TEST_P(TransportContract, ReducesWithElementsThatLieElsewhere) {
  run(2, [](Transport& transport) {
    const std::size_t n = 300007;
    std::vector<std::int64_t> base(n);
    for (std::size_t i = 0; i < n; ++i) base[i] = static_cast<std::int64_t>(i) * (transport.rank() + 1);
    const std::vector<std::int64_t> before = base;
    std::vector<std::int64_t> sum(n, -1);
    const std::byte* const begin = bytes_of(base).data();
    transport.post_receive(1 - transport.rank(), bytes_of(sum),
                           {true, kernels::Reduction::Sum, kernels::Element::I64, begin});
    transport.post_send(1 - transport.rank(), bytes_of(base));
    wait_all(transport, 2);
    EXPECT_TRUE(base == before);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sum[i], static_cast<std::int64_t>(i) * 3);
  });
}

TEST_P(TransportContract, MovesAndReducesMemoryThatItAllocatedAgainAndAgain) {
  run(3, [](Transport& transport) {
    const int n = 100000;
    const int next = (transport.rank() + 1) % 3;
    const int previous = (transport.rank() + 2) % 3;
    for (int round = 0; round < 5; ++round) {  // memory is given back and taken anew
      const auto memory = transport.allocate(2 * n * 4);
      const std::span<std::byte> mine(memory.get(), n * 4);
      const std::span<std::byte> theirs(memory.get() + n * 4, n * 4);
      auto* const values = reinterpret_cast<std::int32_t*>(mine.data());
      auto* const sums = reinterpret_cast<std::int32_t*>(theirs.data());
      for (int i = 0; i < n; ++i) values[i] = transport.rank() + i + round;
      std::fill_n(sums, n, 1000);
      transport.post_send(next, mine);
      transport.post_receive(previous, theirs, {true, kernels::Reduction::Sum, kernels::Element::I32});
      wait_all(transport, 2);
      for (int i = 0; i < n; ++i) ASSERT_EQ(sums[i], 1000 + previous + i + round);
    }
  });
}

TEST_P(TransportContract, BothSidesOfAnExchangeMayPostTheirSendFirst) {
  run(2, [](Transport& transport) {
    std::vector<std::int32_t> mine(1 << 20, transport.rank());
    std::vector<std::int32_t> theirs(1 << 20, -1);
    transport.post_send(1 - transport.rank(), bytes_of(mine));
    transport.post_receive(1 - transport.rank(), bytes_of(theirs), {});
    wait_all(transport, 2);
    EXPECT_TRUE(theirs == std::vector<std::int32_t>(theirs.size(), 1 - transport.rank()));
  });
}

TEST_P(TransportContract, DifferentSizesOfTheTwoSidesAreAnErrorThatNamesThem) {
  const std::string error = error_of<CommError>(2, [](Transport& transport) {
    std::vector<std::uint8_t> buffer(transport.rank() == 0 ? 400 : 600);
    if (transport.rank() == 0) {
      transport.post_send(1, bytes_of(buffer));
    } else {
      transport.post_receive(0, bytes_of(buffer), {});
    }
    wait_all(transport, 1);
  });
  EXPECT_THAT(error, HasSubstr("rank 0 sends 400 bytes, but rank 1 expects 600"));
}

TEST_P(TransportContract, ADeadlineNamesWhoWaitsForWhomAndForWhat) {
  const std::string error = error_of<TimeoutError>(3, [](Transport& transport) {
    if (transport.rank() != 2) return;
    std::vector<std::uint8_t> buffer(1024);
    transport.post_receive(1, bytes_of(buffer), {});
    transport.post_send(0, bytes_of(buffer));
    std::vector<Ticket> done;
    // The send may be buffered and end at once; the receive never does.
    while (true) transport.wait(deadline_after(0.05), done);
  });
  EXPECT_THAT(error, testing::ContainsRegex("rank 2 has waited [0-9.]+ s to receive 1024 bytes from rank 1"));
}

TEST_P(TransportContract, AfterAnErrorEveryCallThrowsAgain) {
  run(2, [](Transport& transport) {
    std::vector<std::uint8_t> buffer(8);
    if (transport.rank() == 1) return;
    transport.post_receive(1, bytes_of(buffer), {});
    std::vector<Ticket> done;
    EXPECT_THROW(transport.wait(deadline_after(0.01), done), TimeoutError);
    EXPECT_THROW(transport.wait(deadline_after(kPatience), done), CommError);
    EXPECT_THROW(transport.post_send(1, bytes_of(buffer)), CommError);
  });
}

TEST_P(TransportContract, ARankThatFailsEndsTheOthersWithItsNumber) {
  const std::string error = error_of<DataError>(3, [](Transport& transport) {
    if (transport.rank() == 1) throw DataError("its disk is gone");
    std::vector<std::uint8_t> buffer(8);
    transport.post_receive(1, bytes_of(buffer), {});
    try {
      wait_all(transport, 1);
      ADD_FAILURE() << "rank 1 sent nothing";
    } catch (const CommError& broken) {
      EXPECT_THAT(broken.what(), HasSubstr("rank 1 failed: its disk is gone"));
    }
  });
  EXPECT_EQ(error, "its disk is gone");
}

TEST_P(TransportContract, WaitingForNothingAndPostingNonsenseAreOurFaults) {
  run(2, [](Transport& transport) {
    std::vector<Ticket> done;
    std::vector<std::uint8_t> buffer(8);
    EXPECT_THROW(transport.wait(deadline_after(1), done), InternalError);
    EXPECT_THROW(transport.post_send(2, bytes_of(buffer)), InternalError);
    EXPECT_THROW(transport.post_send(-1, bytes_of(buffer)), InternalError);
    EXPECT_THROW(transport.post_send(transport.rank(), bytes_of(buffer)), InternalError);
    EXPECT_THROW(transport.post_receive(1 - transport.rank(), {}, {}), InternalError);
  });
}

INSTANTIATE_TEST_SUITE_P(All, TransportContract, testing::ValuesIn(test::transport_cases()), test::name_of);

}  // namespace
}  // namespace eflops::comm
