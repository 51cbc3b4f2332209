#include "comm/tcp_connect.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "comm/tcp_address.h"
#include "machine/machine.h"

namespace eflops::comm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kHelloPatience = 5;  // seconds for a caller to say who it is
constexpr std::uint32_t kControlStream = 0xFFFFFFFF;

/// The first bytes of every connection.
struct Hello {
  std::array<char, 8> magic{'e', 'f', 'l', 'o', 'p', 's', '0', '1'};
  std::array<unsigned char, 16> token{};
  std::uint32_t size = 0;
  std::uint32_t rank = 0;
  std::uint32_t stream = 0;
};
static_assert(sizeof(Hello) == 36);

/// A caller that has not said who it is yet.
struct Caller {
  Descriptor descriptor;
  std::array<std::byte, sizeof(Hello)> bytes{};
  std::size_t received = 0;
  Clock::time_point since;
};

int poll_ms(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 100));
}

void set_non_blocking(int descriptor) {
  const int one = 1;
  if (::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0 ||
      ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0) {
    throw CommError("transport tcp: a socket's options: {}", std::strerror(errno));
  }
}

/// Raises the soft limit of descriptors if need be.
void reserve_descriptors(int connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  std::error_code error;
  const auto open = std::distance(std::filesystem::directory_iterator("/proc/self/fd", error), {});
  const auto needed = static_cast<rlim_t>(open + connections + 16);
  if (limit.rlim_cur >= needed) return;
  if (limit.rlim_max >= needed) {
    const rlimit raised{needed, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  }
  throw CommError(
      "transport tcp: needs {} open files ({} connections), the limit is {}; raise it with ulimit -n, or take fewer "
      "streams",
      needed, connections, limit.rlim_max);
}

Descriptor listening(const TcpAddress& address, int backlog) {
  Descriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw CommError("transport tcp: socket: {}", std::strerror(errno));
  if (::bind(socket.get(), address.get(), address.length()) != 0) {
    throw ConfigError("transport tcp: cannot listen on {}: {}", address.host(), std::strerror(errno));
  }
  if (::listen(socket.get(), backlog) != 0) throw CommError("transport tcp: listen: {}", std::strerror(errno));
  set_non_blocking(socket.get());
  return socket;
}

/// A connection from `from` (any port of it) to `to`.
Descriptor connected(const TcpAddress& from, const TcpAddress& to, int rank, Deadline deadline) {
  const auto failed = [&](int reason) {
    return CommError("transport tcp: cannot reach rank {} at {} port {} from {}: {}", rank, to.host(), to.port(),
                     from.host(), std::strerror(reason));
  };
  Descriptor socket(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw failed(errno);
  const TcpAddress any_port = TcpAddress::parse(from.host(), 0);
  if (::bind(socket.get(), any_port.get(), any_port.length()) != 0) throw failed(errno);
  set_non_blocking(socket.get());
  if (::connect(socket.get(), to.get(), to.length()) == 0) return socket;
  if (errno != EINPROGRESS) throw failed(errno);
  pollfd waited{socket.get(), POLLOUT, 0};
  while (::poll(&waited, 1, poll_ms(deadline)) <= 0) {
    if (Clock::now() > deadline) {
      throw TimeoutError("transport tcp: rank {} at {} port {} does not answer", rank, to.host(), to.port());
    }
  }
  int reason = 0;
  socklen_t length = sizeof reason;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &reason, &length);
  if (reason != 0) throw failed(reason);
  return socket;
}

class Meeting {
 public:
  Meeting(Bootstrap& bootstrap, const TcpOptions& options)
      : rank_(bootstrap.rank()),
        size_(bootstrap.size()),
        streams_(options.streams),
        deadline_(deadline_after(options.timeout_s)),
        links_(static_cast<std::size_t>(bootstrap.size())) {
    if (streams_ < 1 || streams_ > 64) throw ConfigError("transport tcp: streams is {}; 1 to 64", streams_);
    for (int peer = 0; peer < size_; ++peer) {
      if (peer != rank_) links_[static_cast<std::size_t>(peer)].data.resize(static_cast<std::size_t>(streams_));
    }
    reserve_descriptors((size_ - 1) * (streams_ + 1));
    hello_.size = static_cast<std::uint32_t>(size_);
    hello_.rank = static_cast<std::uint32_t>(rank_);
  }

  std::vector<TcpLinks> meet(Bootstrap& bootstrap, const std::string& bind, int* strangers) {
    const std::string host = machine::host_name();
    hosts_ = bootstrap.all_gather(host, deadline_);
    const bool one_host = std::all_of(hosts_.begin(), hosts_.end(), [&](const auto& other) { return other == host; });
    const TcpAddress wanted = listen_address(bind, one_host);
    const Descriptor listener = listening(wanted, size_ * (streams_ + 1));
    const TcpAddress mine = TcpAddress::of_socket(listener.get());
    exchange_cards(bootstrap, mine);
    check_addresses();
    // Lower ranks are called, higher ones call; the kernel takes calls before they are accepted.
    for (int peer = 0; peer < rank_; ++peer) {
      for (int stream = 0; stream < streams_; ++stream) call(mine, peer, static_cast<std::uint32_t>(stream));
      call(mine, peer, kControlStream);
    }
    missing_ = (size_ - 1 - rank_) * (streams_ + 1);
    while (missing_ > 0) accept_some(listener);
    if (strangers != nullptr) *strangers = strangers_;
    if (strangers_ > 0) log::warning("transport tcp: turned {} unknown callers away", strangers_);
    return std::move(links_);
  }

 private:
  void exchange_cards(Bootstrap& bootstrap, const TcpAddress& mine) {
    std::string token;
    if (rank_ == 0) {
      std::array<unsigned char, 16> drawn{};
      if (::getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size())) {
        throw CommError("getrandom: {}", std::strerror(errno));
      }
      for (const unsigned char byte : drawn) token += fmt::format("{:02x}", byte);
    }
    const std::vector<std::string> cards =
        bootstrap.all_gather(fmt::format("{} {} {}", mine.host(), mine.port(), token), deadline_);
    for (const std::string& card : cards) {
      std::istringstream words(card);
      std::string address;
      int port = 0;
      words >> address >> port;
      if (&card == &cards.front()) words >> token;
      addresses_.push_back(TcpAddress::parse(address, port));
    }
    for (std::size_t i = 0; i < hello_.token.size(); ++i) {
      hello_.token[i] = static_cast<unsigned char>(std::stoi(token.substr(2 * i, 2), nullptr, 16));
    }
  }

  /// An address that means something else on another host leads to a wrong place or nowhere.
  void check_addresses() const {
    for (int peer = 0; peer < size_; ++peer) {
      const auto index = static_cast<std::size_t>(peer);
      if (hosts_[index] != hosts_[static_cast<std::size_t>(rank_)] && addresses_[index].is_loopback()) {
        throw CommError(
            "transport tcp: rank {} on host {} offers the loopback address {}, which rank {} on host {} cannot reach; "
            "choose a network with bind",
            peer, hosts_[index], addresses_[index].host(), rank_, hosts_[static_cast<std::size_t>(rank_)]);
      }
    }
  }

  void call(const TcpAddress& mine, int peer, std::uint32_t stream) {
    Descriptor socket = connected(mine, addresses_[static_cast<std::size_t>(peer)], peer, deadline_);
    Hello hello = hello_;
    hello.stream = stream;
    if (::send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) {
      throw CommError("transport tcp: rank {} does not listen: {}", peer, std::strerror(errno));
    }
    place(peer, stream, std::move(socket));
  }

  void place(int peer, std::uint32_t stream, Descriptor socket) {
    TcpLinks& links = links_[static_cast<std::size_t>(peer)];
    (stream == kControlStream ? links.control : links.data[stream]) = std::move(socket);
  }

  void accept_some(const Descriptor& listener) {
    std::vector<pollfd> waited{{listener.get(), POLLIN, 0}};
    for (const Caller& caller : callers_) waited.push_back({caller.descriptor.get(), POLLIN, 0});
    ::poll(waited.data(), waited.size(), poll_ms(deadline_));
    if (Clock::now() > deadline_) throw TimeoutError("{}", who_is_missing());
    for (std::size_t i = callers_.size(); i-- > 0;) {
      if (!listen_to(callers_[i])) callers_.erase(callers_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    while (true) {
      const int descriptor = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor < 0) {
        if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
        throw CommError("transport tcp: accept: {}", std::strerror(errno));
      }
      set_non_blocking(descriptor);
      callers_.push_back({Descriptor(descriptor), {}, 0, Clock::now()});
    }
  }

  /// Reads what a caller says; false when it is known, or turned away.
  bool listen_to(Caller& caller) {
    const ssize_t got = ::recv(caller.descriptor.get(), caller.bytes.data() + caller.received,
                               caller.bytes.size() - caller.received, 0);
    if (got > 0) caller.received += static_cast<std::size_t>(got);
    if (caller.received == sizeof(Hello)) {
      Hello hello;
      std::memcpy(static_cast<void*>(&hello), caller.bytes.data(), sizeof hello);
      if (is_expected(hello)) {
        place(static_cast<int>(hello.rank), hello.stream, std::move(caller.descriptor));
        --missing_;
      } else {
        ++strangers_;
      }
      return false;
    }
    const bool is_gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (is_gone || Clock::now() - caller.since > std::chrono::duration<double>(kHelloPatience)) {
      ++strangers_;
      return false;
    }
    return true;
  }

  bool is_expected(const Hello& hello) const {
    if (hello.magic != hello_.magic || hello.token != hello_.token || hello.size != hello_.size) return false;
    if (hello.rank <= hello_.rank || hello.rank >= hello_.size) return false;
    const TcpLinks& links = links_[hello.rank];
    if (hello.stream == kControlStream) return links.control.get() < 0;
    return hello.stream < links.data.size() && links.data[hello.stream].get() < 0;
  }

  std::string who_is_missing() const {
    std::string missing;
    for (int peer = rank_ + 1; peer < size_; ++peer) {
      const TcpLinks& links = links_[static_cast<std::size_t>(peer)];
      const bool complete = links.control.get() >= 0 && std::all_of(links.data.begin(), links.data.end(),
                                                                    [](const auto& d) { return d.get() >= 0; });
      if (!complete)
        missing += fmt::format("{} {} ({})", missing.empty() ? "" : ",", peer,
                               addresses_[static_cast<std::size_t>(peer)].host());
    }
    return fmt::format("transport tcp: rank {} waits in vain for calls of rank{}", rank_, missing);
  }

  int rank_;
  int size_;
  int streams_;
  Deadline deadline_;
  Hello hello_;
  std::vector<std::string> hosts_;
  std::vector<TcpAddress> addresses_;
  std::vector<TcpLinks> links_;
  std::vector<Caller> callers_;
  int missing_ = 0;
  int strangers_ = 0;
};

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

std::vector<TcpLinks> connect_all(Bootstrap& bootstrap, const TcpOptions& options, int* strangers) {
  Meeting meeting(bootstrap, options);
  return meeting.meet(bootstrap, options.bind, strangers);
}

}  // namespace eflops::comm
