#include "base/stop_signal.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "base/error.h"

namespace eflops {
namespace {

constexpr std::array<int, 3> kSignals{SIGTERM, SIGINT, SIGUSR1};
std::atomic<int> received{0};
std::atomic<bool> installed{false};
std::array<struct sigaction, kSignals.size()> former;

extern "C" void on_stop_signal(int number) {
  if (received.exchange(number) == SIGINT && number == SIGINT) ::_exit(130);
}

}  // namespace

StopSignal::StopSignal() {
  EFLOPS_CHECK(!installed.exchange(true), "two StopSignal objects at a time");
  received = 0;
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &former[i]);
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &former[i], nullptr);
  received = 0;
  installed = false;
}

bool StopSignal::requested() { return received != 0; }

std::string StopSignal::name() {
  switch (received) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "";
  }
}

}  // namespace eflops
