#include "comm/watchdog.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace eflops::comm {
namespace {

/// The exit status of a child process that does `body` and then ends with 0.
int status_of(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    body();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Watchdog, EndsAProcessWhoseCallDoesNotReturn) {
  EXPECT_EQ(status_of([] {
              Watchdog dog;
              dog.arm(deadline_after(0.05), "the library hangs");
              while (true) ::pause();
            }),
            5);
}

TEST(Watchdog, LetsAProcessLiveThatDisarmsInTime) {
  EXPECT_EQ(status_of([] {
              Watchdog dog;
              for (int call = 0; call < 100; ++call) {
                dog.arm(deadline_after(0.02), "not to be seen");
                dog.disarm();
              }
              ::usleep(60000);  // beyond every deadline that was armed
            }),
            0);
}

TEST(Watchdog, TakesALaterDeadlineInPlaceOfAnEarlierOne) {
  EXPECT_EQ(status_of([] {
              Watchdog dog;
              dog.arm(deadline_after(0.02), "not to be seen");
              dog.arm(deadline_after(60), "not to be seen");
              ::usleep(60000);
              dog.disarm();
            }),
            0);
}

}  // namespace
}  // namespace eflops::comm
