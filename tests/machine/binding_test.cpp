#include "machine/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>

#include "base/error.h"
#include "base/parallel.h"

namespace eflops::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Machine machine_of(int cores, std::vector<std::vector<int>> usable) {
  Machine machine;
  machine.topology.cores = cores;
  machine.topology.hardware_threads = cores;
  machine.topology.usable_cores = std::move(usable);
  return machine;
}

TEST(BindingProblem, IsEmptyWhenEveryThreadHasACore) {
  EXPECT_EQ(binding_problem(machine_of(4, {{0, 1, 2, 3}}), 4), "");
  EXPECT_EQ(binding_problem(machine_of(4, {{0, 1}}), 2), "");
}

TEST(BindingProblem, NamesTheLineThatMendsIt) {
  EXPECT_EQ(binding_problem(machine_of(4, {{1}}), 4),
            "4 threads are bound to 1 of 4 cores: start with `taskset -c 0-3` or `mpirun --bind-to none`, or set "
            "OMP_NUM_THREADS=1");
  EXPECT_EQ(binding_problem(machine_of(2, {{0, 1}}), 8),
            "8 threads on 2 cores: they will wait for each other; set OMP_NUM_THREADS=2");
}

TEST(BindingProblem, SeesAContainersQuota) {
  Machine machine = machine_of(8, {{0, 1, 2, 3, 4, 5, 6, 7}});
  machine.limits.cpu_quota = 2.0;
  EXPECT_EQ(binding_problem(machine, 2), "");
  EXPECT_THAT(binding_problem(machine, 8), HasSubstr("the container may use 2.0 cores"));
  machine.limits.cpu_quota = 0.5;
  EXPECT_THAT(binding_problem(machine, 8), HasSubstr("OMP_NUM_THREADS=1"));
}

TEST(MeasuringScopes, OneSocketIsTheWholeMachine) {
  const auto scopes = measuring_scopes(machine_of(2, {{0, 1}}).topology);
  ASSERT_EQ(scopes.size(), 2U);
  EXPECT_THAT(scopes[0].names, ElementsAre("core"));
  EXPECT_THAT(scopes[0].cores, ElementsAre(0));
  EXPECT_THAT(scopes[1].names, ElementsAre("socket", "all"));
  EXPECT_THAT(scopes[1].cores, ElementsAre(0, 1));
}

TEST(MeasuringScopes, ASocketWithoutUsableCoresIsLeftOut) {
  const auto scopes = measuring_scopes(machine_of(6, {{}, {2, 3}, {4}}).topology);
  ASSERT_EQ(scopes.size(), 3U);
  EXPECT_THAT(scopes[0].cores, ElementsAre(2));
  EXPECT_THAT(scopes[1].cores, ElementsAre(2, 3));
  EXPECT_THAT(scopes[2].cores, ElementsAre(2, 3, 4));
}

TEST(PoolBinding, BindsEachThreadToItsCoreAndRestoresItsPlace) {
  const std::vector<int> cores = measuring_scopes(read_topology()).back().cores;
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int threads = thread_count();
  {
    const PoolBinding bound(cores);
    EXPECT_EQ(thread_count(), static_cast<int>(cores.size()));
    cpu_set_t here;
    ASSERT_EQ(sched_getaffinity(0, sizeof here, &here), 0);
#ifndef __SANITIZE_THREAD__
    // With base/parallel on std::thread (tsan) the loops have threads of their own and the caller stays as it was.
    EXPECT_EQ(CPU_COUNT(&here), 1);
#endif
  }
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_EQ(thread_count(), threads);
}

TEST(PoolBinding, ACoreThatDoesNotExistIsAnError) { EXPECT_THROW(PoolBinding({1000}), DataError); }

TEST(Placement, SaysThreadsAndCores) {
  EXPECT_THAT(placement(machine_of(4, {{0, 1}}), 1), HasSubstr("1 thread on 2 of 4 cores"));
  EXPECT_THAT(placement(machine_of(4, {{0, 1}}), 2), HasSubstr("2 threads on 2 of 4 cores"));
}

}  // namespace
}  // namespace eflops::machine
