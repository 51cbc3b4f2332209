#include "experiment/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/stop_signal.h"

namespace eflops::experiment {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kGraceToSave = 60;
constexpr double kGraceToEnd = 10;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// In the child: never returns. What fails is told through `report`.
[[noreturn]] void become(std::vector<char*>& arguments, const std::filesystem::path& output, int report) {
  ::setpgid(0, 0);
  const int log = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (log >= 0 && nothing >= 0) {
    ::dup2(nothing, 0);
    ::dup2(log, 1);
    ::dup2(log, 2);
    ::execvp(arguments[0], arguments.data());
  }
  const int why = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &why, sizeof why);
  ::_exit(127);
}

/// Waits up to `seconds` for the end, looking every 10 ms; true when it came. `stop` ends the wait early.
bool wait_for(pid_t child, int& status, double seconds, bool heeds_stop) {
  const Clock::time_point begin = Clock::now();
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return true;
    if (ended < 0 && errno != EINTR) throw InternalError("waitpid: {}", std::strerror(errno));
    if (seconds_since(begin) > seconds || (heeds_stop && StopSignal::requested())) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& words, const std::filesystem::path& output, double timeout_s) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw DataError("{}: cannot be started: {}", words[0], std::strerror(errno));
  const Clock::time_point begin = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) become(arguments, output, pipe[1]);
  ::close(pipe[1]);
  int why = child < 0 ? errno : 0;
  if (child > 0 && ::read(pipe[0], &why, sizeof why) == sizeof why) ::waitpid(child, nullptr, 0);
  ::close(pipe[0]);
  if (why != 0) throw DataError("{}: cannot be started: {}", words[0], std::strerror(why));
  ChildResult result;
  int status = 0;
  bool ended = wait_for(child, status, timeout_s, true);
  if (!ended && StopSignal::requested()) {
    result.interrupted = true;
    ::kill(-child, SIGUSR1);
    ended = wait_for(child, status, kGraceToSave, false);
  } else if (!ended) {
    result.timed_out = true;
  }
  if (!ended) {
    ::kill(-child, SIGTERM);
    ended = wait_for(child, status, kGraceToEnd, false);
  }
  // Whatever of the group outlives its leader would disturb what comes next.
  ::kill(-child, SIGKILL);
  if (!ended) ::waitpid(child, &status, 0);
  result.seconds = seconds_since(begin);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace eflops::experiment
