#include "data/sharding_pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/stop_signal.h"

namespace eflops::data {
namespace {

/// What goes before the bytes of a job or a result on the socket.
struct Frame {
  std::uint64_t bytes = 0;
  std::int64_t exit_code = 0;  ///< of the error in the bytes; 0 when they are a result
};

struct Reply {
  std::int64_t exit_code = 0;
  std::string bytes;
};

bool send_all(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_frame(int socket, std::int64_t exit_code, std::string_view bytes) {
  const Frame frame{bytes.size(), exit_code};
  return send_all(socket, &frame, sizeof frame) && send_all(socket, bytes.data(), bytes.size());
}

std::optional<Reply> receive_frame(int socket) {
  Frame frame;
  if (!receive_all(socket, &frame, sizeof frame)) return std::nullopt;
  Reply reply{frame.exit_code, std::string(frame.bytes, '\0')};
  if (!receive_all(socket, reply.bytes.data(), reply.bytes.size())) return std::nullopt;
  return reply;
}

Reply answer(const std::function<std::string(std::string_view)>& work, const std::string& job) {
  try {
    return {0, work(job)};
  } catch (const Error& error) {
    return {static_cast<std::int64_t>(error.exit_code()), error.what()};
  } catch (const std::bad_alloc&) {
    return {static_cast<std::int64_t>(ExitCode::Data), "out of memory in a worker process; use fewer processes"};
  } catch (const std::exception& error) {
    return {static_cast<std::int64_t>(ExitCode::Internal), error.what()};
  }
}

[[noreturn]] void serve(int socket, pid_t parent, const std::function<std::string(std::string_view)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it died before prctl
  while (const auto job = receive_frame(socket)) {
    const Reply reply = answer(work, job->bytes);
    if (!send_frame(socket, reply.exit_code, reply.bytes)) break;
  }
  ::_exit(0);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return fmt::format("was killed by signal {} ({}){}", number, ::strsignal(number),
                       number == SIGKILL ? "; out of memory? Use fewer processes" : "");
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

struct Worker {
  pid_t pid = -1;
  int socket = -1;
  bool busy = false;
  std::uint64_t sequence = 0;  ///< number of its job
};

class Pool {
 public:
  Pool(const PoolOptions& options, const PoolWork& work) : options_(options), work_(work) {}
  ~Pool() {
    for (const Worker& worker : workers_) {
      ::close(worker.socket);
      ::kill(worker.pid, SIGKILL);  // it holds nothing that matters
    }
    for (const Worker& worker : workers_)
      while (::waitpid(worker.pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void run() {
    for (std::int64_t i = 0; i < options_.processes; ++i) start();
    std::optional<std::string> job;
    bool exhausted = false;
    while (!exhausted || job || next_out_ < next_in_) {
      if (StopSignal::requested())
        throw InterruptedError("stopped by {}; nothing was kept, start again", StopSignal::name());
      if (!exhausted && !job && next_in_ - next_out_ < window()) {
        job.emplace();
        exhausted = !work_.produce(*job);
        if (exhausted) job.reset();
        continue;
      }
      Worker* idle = idle_worker();
      if (job && idle != nullptr) {
        hand_out(*idle, *job);
        job.reset();
        continue;
      }
      collect();
    }
  }

 private:
  std::uint64_t window() const { return 2 * static_cast<std::uint64_t>(options_.processes) + 2; }

  void start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw DataError("cannot start a worker process: {}", std::strerror(errno));
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
      const int reason = errno;
      ::close(ends[0]);
      ::close(ends[1]);
      throw DataError("cannot start a worker process: {}", std::strerror(reason));
    }
    if (pid == 0) {
      ::close(ends[0]);
      for (const Worker& other : workers_) ::close(other.socket);
      serve(ends[1], parent, work_.work);
    }
    ::close(ends[1]);
    const timeval limit{.tv_sec = options_.deadline.count(), .tv_usec = 0};
    ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    workers_.push_back({.pid = pid, .socket = ends[0]});
  }

  Worker* idle_worker() {
    const auto found = std::ranges::find(workers_, false, &Worker::busy);
    return found == workers_.end() ? nullptr : &*found;
  }

  void hand_out(Worker& worker, const std::string& job) {
    if (!send_frame(worker.socket, 0, job)) fail(worker);
    worker.busy = true;
    worker.sequence = next_in_++;
  }

  /// Waits for results and consumes those whose turn it is.
  void collect() {
    std::vector<pollfd> polled;
    for (const Worker& worker : workers_) polled.push_back({worker.socket, POLLIN, 0});
    const auto began = std::chrono::steady_clock::now();
    constexpr int kStopCheck_ms = 200;
    while (::poll(polled.data(), polled.size(), kStopCheck_ms) <= 0) {
      if (StopSignal::requested()) return;
      if (std::chrono::steady_clock::now() - began > options_.deadline)
        throw TimeoutError("no worker process answered for {} s", options_.deadline.count());
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (polled[i].revents == 0) continue;
      auto reply = receive_frame(workers_[i].socket);
      if (!reply) fail(workers_[i]);
      workers_[i].busy = false;
      replies_.emplace(workers_[i].sequence, std::move(*reply));
    }
    for (auto next = replies_.find(next_out_); next != replies_.end(); next = replies_.find(next_out_)) {
      const Reply reply = std::move(next->second);
      replies_.erase(next);
      ++next_out_;
      if (reply.exit_code != 0) throw Error(static_cast<ExitCode>(reply.exit_code), reply.bytes);
      work_.consume(reply.bytes);
    }
  }

  /// A worker whose socket was closed has ended or is about to; one whose socket timed out stands still.
  [[noreturn]] void fail(Worker& worker) {
    const pid_t pid = worker.pid;
    constexpr int kTries = 100;
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < kTries && (ended = ::waitpid(pid, &status, WNOHANG)) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (ended != pid) throw TimeoutError("worker process {} did not answer for {} s", pid, options_.deadline.count());
    ::close(worker.socket);
    workers_.erase(workers_.begin() + (&worker - workers_.data()));
    throw DataError("worker process {} {}; nothing was kept", pid, how_it_ended(status));
  }

  PoolOptions options_;
  const PoolWork& work_;
  std::vector<Worker> workers_;
  std::map<std::uint64_t, Reply> replies_;  ///< results that came before their turn
  std::uint64_t next_in_ = 0;
  std::uint64_t next_out_ = 0;
};

void map_here(const PoolWork& work) {
  for (std::string job; work.produce(job); job.clear()) {
    if (StopSignal::requested())
      throw InterruptedError("stopped by {}; nothing was kept, start again", StopSignal::name());
    work.consume(work.work(job));
  }
}

}  // namespace

void map_in_processes(const PoolOptions& options, const PoolWork& work) {
  EFLOPS_CHECK(options.processes >= 1, "{} processes", options.processes);
  if (options.processes == 1) return map_here(work);
  Pool(options, work).run();
}

}  // namespace eflops::data
