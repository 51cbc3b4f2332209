#include "machine/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace eflops::machine {
namespace {

TEST(Machine, CountsAgreeWithTheSystem) {
  const Machine machine = inspect();
  const Topology& topology = machine.topology;
  EXPECT_GE(topology.sockets, 1);
  EXPECT_GE(topology.cores, topology.sockets);
  EXPECT_GE(topology.hardware_threads, topology.cores);
  EXPECT_LE(topology.hardware_threads, ::sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_GE(topology.usable_core_count(), 1);
  EXPECT_LE(topology.usable_core_count(), topology.cores);
  EXPECT_EQ(std::ssize(topology.usable_cores), topology.sockets);
}

TEST(Machine, MemoryAgreesWithTheSystem) {
  const Machine machine = inspect();
  const auto total =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(machine.memory_bytes, total);
  EXPECT_GT(machine.memory_available_bytes, 0U);
  EXPECT_LE(machine.memory_available_bytes, machine.memory_bytes);
}

TEST(Machine, NamesHostKernelAndCpu) {
  const Machine machine = inspect();
  EXPECT_FALSE(machine.host.empty());
  EXPECT_TRUE(machine.kernel.starts_with("Linux "));
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GE(machine.load, 0.0);
}

TEST(Machine, ReportsOnlyInstructionsTheCompilerSeesToo) {
  const Machine machine = inspect();
  const bool listed = std::ranges::find(machine.isa, "avx2") != machine.isa.end();
  EXPECT_EQ(listed, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(std::ranges::find(machine.isa, "avx512f") != machine.isa.end(), __builtin_cpu_supports("avx512f") != 0);
}

TEST(Machine, NativeBf16IsAvx512Bf16OrAmx) {
  Machine machine;
  machine.isa = {"avx2", "avx512f"};
  EXPECT_FALSE(machine.has_native_bf16());
  machine.isa = {"avx2", "avx512_bf16"};
  EXPECT_TRUE(machine.has_native_bf16());
  machine.isa = {"amx_bf16"};
  EXPECT_TRUE(machine.has_native_bf16());
}

TEST(Topology, LastLevelCachesAreSummed) {
  Topology topology;
  EXPECT_EQ(topology.last_level_cache_bytes(), 0U);
  topology.caches = {{.level = 1, .kind = "data", .bytes = 32768, .count = 4},
                     {.level = 3, .kind = "unified", .bytes = 1 << 20, .count = 2}};
  EXPECT_EQ(topology.last_level_cache_bytes(), 2U << 20);
}

TEST(Limits, CpuMaxIsQuotaOverPeriod) {
  EXPECT_EQ(parse_cpu_max("150000 100000"), 1.5);
  EXPECT_EQ(parse_cpu_max("max 100000"), 0.0);
  EXPECT_EQ(parse_cpu_max(""), 0.0);
  EXPECT_EQ(parse_cpu_max("-1 100000"), 0.0);
  EXPECT_EQ(parse_cpu_max("100000 0"), 0.0);
}

}  // namespace
}  // namespace eflops::machine
