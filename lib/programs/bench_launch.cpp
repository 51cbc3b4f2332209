#include "programs/bench_launch.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "comm/mpi_session.h"
#include "machine/machine.h"

namespace eflops::programs {
namespace {

/// The words this process was started with.
std::vector<std::string> own_words() {
  const std::string all = read_file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    words.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  words[0] = std::filesystem::read_symlink("/proc/self/exe").string();
  return words;
}

[[noreturn]] void become(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  throw CommError("cannot start mpirun ({}); install openmpi-bin, or measure one rank with --ranks 1",
                  std::strerror(errno));
}

/// Runs the command once and waits for its end; the shell's exit status. It is told to end when this process does.
int run_once(std::vector<std::string>& words) {
  const pid_t child = ::fork();
  if (child < 0) throw CommError("cannot start mpirun: {}", std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    try {
      become(words);
    } catch (const Error& error) {
      log::error("{}", error.what());
      ::_exit(static_cast<int>(error.exit_code()));
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void launch_ranks_unless_launched(std::int64_t ranks, std::int64_t launches) {
  std::string source;
  if (comm::promised_ranks(source) > 0 || (ranks == 1 && launches == 1)) return;
  const std::int64_t cores = machine::inspect().topology.usable_core_count();
  if (ranks == 0) ranks = std::max<std::int64_t>(cores, 2);
  std::vector<std::string> words = {"mpirun", "-n", std::to_string(ranks)};
  if (ranks > cores) {
    log::warning("{} ranks on {} cores take turns: times are those of a crowded machine", ranks, cores);
    words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
  }
  if (::geteuid() == 0) {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  }
  const std::vector<std::string> own = own_words();
  words.insert(words.end(), own.begin(), own.end());
  if (launches == 1) become(words);
  for (std::int64_t i = 0; i < launches; ++i) {
    const int status = run_once(words);
    if (status != 0) std::exit(status);
  }
  std::exit(0);
}

}  // namespace eflops::programs
