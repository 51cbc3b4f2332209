#include "machine/binding.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"

namespace eflops::machine {
namespace {

void bind_here(int hardware_thread) {
  cpu_set_t one;
  CPU_ZERO(&one);
  if (hardware_thread < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(hardware_thread), &one);
  if (::sched_setaffinity(0, sizeof one, &one) != 0)
    throw DataError("cannot bind a thread to hardware thread {}: {}", hardware_thread, std::strerror(errno));
}

}  // namespace

std::string binding_problem(const Machine& machine, int threads) {
  const int usable = machine.topology.usable_core_count();
  const int cores = machine.topology.cores;
  if (threads > cores)
    return fmt::format("{} threads on {} cores: they will wait for each other; set OMP_NUM_THREADS={}", threads, cores,
                       usable);
  if (threads > usable)
    return fmt::format(
        "{} threads are bound to {} of {} cores: start with `taskset -c 0-{}` or `mpirun --bind-to none`, or set "
        "OMP_NUM_THREADS={}",
        threads, usable, cores, machine.topology.hardware_threads - 1, usable);
  const double quota = machine.limits.cpu_quota;
  if (quota > 0 && threads > quota + 0.5)
    return fmt::format("{} threads, but the container may use {:.1f} cores: raise its limit or set OMP_NUM_THREADS={}",
                       threads, quota, std::max(1, static_cast<int>(quota)));
  return "";
}

std::string placement(const Machine& machine, int threads) {
  std::string text = fmt::format("{} thread{} on {} of {} cores", threads, threads == 1 ? "" : "s",
                                 machine.topology.usable_core_count(), machine.topology.cores);
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES"})
    if (const char* value = std::getenv(name)) text += fmt::format(", {}={}", name, value);
  return text;
}

std::vector<Scope> measuring_scopes(const Topology& topology) {
  std::vector<int> socket;
  std::vector<int> all;
  for (const std::vector<int>& cores : topology.usable_cores) {
    if (socket.empty()) socket = cores;
    all.insert(all.end(), cores.begin(), cores.end());
  }
  EFLOPS_CHECK(!all.empty(), "no usable core");
  std::vector<Scope> scopes{{{"core"}, {all.front()}}};
  const auto add = [&](const std::string& name, const std::vector<int>& cores) {
    if (scopes.back().cores == cores)
      scopes.back().names.push_back(name);
    else
      scopes.push_back({{name}, cores});
  };
  add("socket", socket);
  add("all", all);
  return scopes;
}

struct PoolBinding::Former {
  int threads = 0;
  std::vector<cpu_set_t> sets;
};

PoolBinding::PoolBinding(const std::vector<int>& cores) : former_(std::make_unique<Former>()) {
  former_->threads = thread_count();
  former_->sets.resize(cores.size());
  set_thread_count(static_cast<int>(cores.size()));
  parallel_for(std::ssize(cores), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      ::sched_getaffinity(0, sizeof(cpu_set_t), &former_->sets[static_cast<std::size_t>(i)]);
  });
  try {
    parallel_for(std::ssize(cores), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) bind_here(cores[static_cast<std::size_t>(i)]);
    });
  } catch (const DataError&) {
    restore();
    throw;
  }
}

void PoolBinding::restore() {
  parallel_for(std::ssize(former_->sets), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      ::sched_setaffinity(0, sizeof(cpu_set_t), &former_->sets[static_cast<std::size_t>(i)]);
  });
  set_thread_count(former_->threads);
}

PoolBinding::~PoolBinding() { restore(); }

}  // namespace eflops::machine
