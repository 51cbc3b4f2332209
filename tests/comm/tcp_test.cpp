#include "comm/tcp_transport.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <sstream>

#include "base/error.h"
#include "comm/inproc_bootstrap.h"
#include "comm/tcp_address.h"
#include "machine/machine.h"

namespace eflops::comm {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

template <typename Expected>
std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

TEST(TcpAddress, ReadsDigitsAndKnowsLoopbacks) {
  EXPECT_EQ(TcpAddress::parse("10.1.2.3", 80).host(), "10.1.2.3");
  EXPECT_EQ(TcpAddress::parse("10.1.2.3", 80).port(), 80);
  EXPECT_FALSE(TcpAddress::parse("10.1.2.3", 80).is_loopback());
  EXPECT_TRUE(TcpAddress::parse("127.0.1.1", 0).is_loopback());
  EXPECT_TRUE(TcpAddress::parse("::1", 7).is_loopback());
  EXPECT_EQ(TcpAddress::parse("::1", 7).port(), 7);
  EXPECT_THROW(TcpAddress::parse("example.org", 0), CommError);
}

TEST(TcpAddress, ListensWhereItIsTold) {
  EXPECT_EQ(listen_address("", true).host(), "127.0.0.1");
  EXPECT_EQ(listen_address("lo", false).host(), "127.0.0.1");
  EXPECT_EQ(listen_address("127.0.0.9", false).host(), "127.0.0.9");
  EXPECT_THAT(error_of<ConfigError>([] { listen_address("eth77", true); }),
              HasSubstr("bind 'eth77' is neither an address nor an interface that is up; there are lo"));
}

TEST(TcpTransport, AnAddressOfAnotherHostIsRefused) {
  EXPECT_THAT(error_of<ConfigError>([] {
                run_threads(
                    1, [](Bootstrap& bootstrap) { return make_tcp_transport(bootstrap, {.bind = "192.0.2.1"}); },
                    [](Transport&) {});
              }),
              HasSubstr("cannot listen on 192.0.2.1: "));
}

TEST(TcpTransport, StreamsAreLimited) {
  for (const int streams : {0, 65, -1}) {
    EXPECT_THROW(run_threads(
                     1, [&](Bootstrap& bootstrap) { return make_tcp_transport(bootstrap, {.streams = streams}); },
                     [](Transport&) {}),
                 ConfigError);
  }
}

/// A rank's bootstrap with something between: its own words are changed, or what all said is looked at.
class Between final : public Bootstrap {
 public:
  using Look = std::function<void(int round, std::vector<std::string>& texts)>;
  Between(Bootstrap& real, Look look) : real_(real), look_(std::move(look)) {}
  int rank() const override { return real_.rank(); }
  int size() const override { return real_.size(); }
  std::vector<std::string> all_gather(const std::string& mine, Deadline deadline) override {
    std::vector<std::string> texts = real_.all_gather(mine, deadline);
    look_(round_++, texts);
    return texts;
  }

 private:
  Bootstrap& real_;
  Look look_;
  int round_ = 0;
};

/// Calls a listener and says `words`; the connection stays open until the end of the test.
Descriptor call(int port, const std::string& words) {
  const TcpAddress address = TcpAddress::parse("127.0.0.1", port);
  Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(::connect(socket.get(), address.get(), address.length()), 0);
  EXPECT_EQ(::send(socket.get(), words.data(), words.size(), 0), static_cast<ssize_t>(words.size()));
  return socket;
}

TEST(TcpTransport, StrangersAreTurnedAwayAndDisturbNobody) {
  int strangers = 0;
  std::vector<Descriptor> calls;
  run_bootstraps(2, [&](Bootstrap& real) {
    Between bootstrap(real, [&](int round, std::vector<std::string>& cards) {
      if (real.rank() != 1 || round != 1) return;
      std::istringstream card(cards[0]);  // address, port, token
      std::string address, token;
      int port = 0;
      card >> address >> port >> token;
      calls.push_back(call(port, ""));                        // says nothing
      calls.push_back(call(port, "GET / HTTP/1.1\r\n\r\n"));  // too short, and then nothing
      calls.push_back(call(port, std::string(36, 'x')));      // garbage
      std::string hello = "eflops01" + std::string(16, 'T');  // all right but the token
      for (const char field : {'\2', '\1', '\0'}) hello += std::string{field, 0, 0, 0};
      calls.push_back(call(port, hello));
      call(port, "");  // and one that hangs up
    });
    std::vector<TcpLinks> links = connect_all(bootstrap, {}, real.rank() == 0 ? &strangers : nullptr);
    EXPECT_GE(links[static_cast<std::size_t>(1 - real.rank())].control.get(), 0);
    real.all_gather("", deadline_after(60));
  });
  EXPECT_GE(strangers, 2);  // garbage and the wrong token; the silent ones may outlast the meeting
}

TEST(TcpTransport, ALoopbackBetweenHostsIsRefused) {
  const std::string error = error_of<CommError>([] {
    run_bootstraps(2, [](Bootstrap& real) {
      Between bootstrap(real, [](int round, std::vector<std::string>& texts) {
        if (round == 0) texts = {"alpha", "beta"};  // as if on two hosts
      });
      connect_all(bootstrap, {.bind = "127.0.0.1"});
    });
  });
  EXPECT_THAT(error, ContainsRegex("rank [01] on host (alpha|beta) offers the loopback address 127.0.0.1"));
}

TEST(TcpTransport, ARankThatNeverCallsIsNamedAtTheDeadline) {
  const std::string error = error_of<TimeoutError>([] {
    run_bootstraps(3, [](Bootstrap& bootstrap) {
      if (bootstrap.rank() < 2) {
        connect_all(bootstrap, {.timeout_s = 0.5});
        return;
      }
      // Rank 2 takes part in the exchange of addresses and then does nothing.
      bootstrap.all_gather(machine::host_name(), deadline_after(60));
      bootstrap.all_gather("127.0.0.1 1", deadline_after(60));
    });
  });
  EXPECT_THAT(error, HasSubstr(" waits in vain for calls of rank 2 (127.0.0.1)"));
}

TEST(TcpTransport, ARankThatLeavesEndsThoseThatWaitForIt) {
  run_bootstraps(2, [](Bootstrap& bootstrap) {
    const std::unique_ptr<Transport> transport = make_tcp_transport(bootstrap);
    if (bootstrap.rank() == 1) return;
    std::vector<std::byte> buffer(100);
    transport->post_receive(1, buffer, {});
    std::vector<Ticket> done;
    EXPECT_THAT(error_of<CommError>([&] { transport->wait(deadline_after(60), done); }),
                HasSubstr("rank 1 has closed its connections"));
  });
}

TEST(TcpTransport, WhatWasSentArrivesThoughTheSenderHasLeft) {
  run_bootstraps(2, [](Bootstrap& bootstrap) {
    const std::unique_ptr<Transport> transport = make_tcp_transport(bootstrap);
    std::vector<std::byte> buffer(20000, std::byte{static_cast<unsigned char>(bootstrap.rank())});
    std::vector<Ticket> done;
    if (bootstrap.rank() == 1) {
      transport->post_send(0, buffer);
      transport->wait(deadline_after(60), done);
      return;
    }
    transport->post_receive(1, buffer, {});
    transport->wait(deadline_after(60), done);
    EXPECT_TRUE(buffer == std::vector<std::byte>(20000, std::byte{1}));
  });
}

TEST(TcpTransport, FewerDescriptorsThanConnectionsIsAnErrorThatSaysHowManyItNeeds) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{40, 40};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(3);
    const std::string error = error_of<CommError>([] {
      run_bootstraps(1, [](Bootstrap& real) {
        struct Large final : Bootstrap {
          int rank() const override { return 0; }
          int size() const override { return 100; }
          std::vector<std::string> all_gather(const std::string&, Deadline) override { return {}; }
        } large;
        static_cast<void>(real);
        connect_all(large, {});
      });
    });
    ::_exit(error.find("(198 connections), the limit is 40; raise it with ulimit -n") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace eflops::comm
