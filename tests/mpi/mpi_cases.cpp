// The suites of tests/comm over MPI: every rank runs all tests, and a test's body on as many ranks as it asks for.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <thread>

#include "base/error.h"
#include "comm/mpi_session.h"
#include "comm/shm_transport.h"
#include "comm/tcp_transport.h"
#include "tests/comm/transport_cases.h"
#include "tests/mpi/gather.h"

namespace eflops::comm::test {
namespace {

MpiSession* session = nullptr;  // from main; googletest hands nothing through to its cases

/// How a rank's body ended.
struct Outcome {
  int code = 0;
  std::array<char, 500> text{};
};

[[noreturn]] void throw_again(const Outcome& outcome) {
  const char* const text = outcome.text.data();
  switch (static_cast<ExitCode>(outcome.code)) {
    case ExitCode::Config:
      throw ConfigError("{}", text);
    case ExitCode::Data:
      throw DataError("{}", text);
    case ExitCode::Comm:
      throw CommError("{}", text);
    case ExitCode::Timeout:
      throw TimeoutError("{}", text);
    default:
      throw InternalError("{}", text);
  }
}

using Maker = std::function<std::unique_ptr<Transport>(int ranks)>;

void run_processes(int ranks, const Maker& make, const std::function<void(Transport&)>& body) {
  if (ranks > session->size()) throw ConfigError("this test needs mpirun -n {}", ranks);
  Outcome mine;
  {
    std::unique_ptr<Transport> transport;
    const auto failed = [&](ExitCode code, const std::string& text) {
      mine.code = static_cast<int>(code);
      std::copy_n(text.begin(), std::min(text.size(), mine.text.size() - 1), mine.text.begin());
      if (transport) transport->fail("rank " + std::to_string(session->rank()) + " failed: " + text);
    };
    try {
      transport = make(ranks);
      if (transport) body(*transport);
    } catch (const Error& error) {
      failed(error.exit_code(), error.what());
    } catch (const std::exception& error) {
      failed(ExitCode::Internal, error.what());
    }
    napping_barrier();
  }
  // A communication error is often only the echo of what another rank suffered: prefer the others.
  const std::vector<Outcome> outcomes = gather_from_all(mine);
  const Outcome* first = nullptr;
  for (const Outcome& outcome : outcomes) {
    const bool is_cause = outcome.code != static_cast<int>(ExitCode::Comm);
    if (outcome.code != 0 && (first == nullptr || (is_cause && first->code == static_cast<int>(ExitCode::Comm)))) {
      first = &outcome;
    }
  }
  if (first != nullptr) throw_again(*first);
}

/// Prints the failures of ranks other than 0, with their rank.
class FailuresOnly : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", session->rank(),
                 result.file_name() != nullptr ? result.file_name() : "?", result.line_number(), result.summary());
  }
};

}  // namespace

std::vector<TransportCase> transport_cases() {
  const auto with = [](const Maker& make) {
    return [make](int ranks, const std::function<void(Transport&)>& body) { run_processes(ranks, make, body); };
  };
  const auto shm = [](Unregistered unregistered) {
    return [unregistered](int ranks) -> std::unique_ptr<Transport> {
      const std::unique_ptr<Bootstrap> bootstrap = session->bootstrap(ranks);
      return bootstrap ? make_shm_transport(*bootstrap, unregistered) : nullptr;
    };
  };
  return {{"mpi", with([](int ranks) { return session->transport(ranks); })},
          {"shm", with(shm(Unregistered::Probe))},
          {"shm_staged", with(shm(Unregistered::Staged))},
          {"tcp", with([](int ranks) -> std::unique_ptr<Transport> {
             const std::unique_ptr<Bootstrap> bootstrap = session->bootstrap(ranks);
             return bootstrap ? make_tcp_transport(*bootstrap, {.streams = 2}) : nullptr;
           })}};
}

}  // namespace eflops::comm::test

int main(int argc, char** argv) {
  eflops::comm::MpiSession session;
  eflops::comm::test::session = &session;
  testing::InitGoogleTest(&argc, argv);
  if (session.rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new eflops::comm::test::FailuresOnly);
  }
  return RUN_ALL_TESTS();
}
