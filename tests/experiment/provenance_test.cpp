#include "experiment/provenance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/build_info.h"
#include "base/parallel.h"
#include "experiment/libraries.h"

namespace eflops::experiment {
namespace {

TEST(Provenance, ComesFromBuildAndMachine) {
  machine::Machine machine;
  machine.host = "node-1";
  machine.cpu = "A CPU";
  machine.load = 0.25;
  machine.memory_bytes = 3ULL << 29;  // 1.5 GiB
  machine.topology.cores = 4;
  machine.topology.usable_cores = {{0, 1}};
  const records::Provenance provenance = gather_provenance(machine);
  EXPECT_EQ(provenance.host, "node-1");
  EXPECT_EQ(provenance.cpu, "A CPU");
  EXPECT_EQ(provenance.load, 0.25);
  EXPECT_EQ(provenance.memory_gib, 1.5);
  EXPECT_EQ(provenance.cores, 4);
  EXPECT_EQ(provenance.version, build_info().version);
  EXPECT_EQ(provenance.git_commit, build_info().git_commit);
  EXPECT_EQ(provenance.threads, thread_count());
  EXPECT_NE(provenance.placement.find("on 2 of 4 cores"), std::string::npos);
}

TEST(Provenance, ARecordStartsUnverifiedWithItsOrigin) {
  const records::Record record = start_record({.program = "eflops-info peak",
                                               .experiment = "peak",
                                               .config_hash = "00",
                                               .command = "eflops-info peak",
                                               .seed = 3},
                                              machine::inspect());
  EXPECT_EQ(record.status, records::Status::Unverified);
  EXPECT_EQ(record.program, "eflops-info peak");
  EXPECT_EQ(record.seed, 3);
  EXPECT_EQ(record.date.size(), std::string("2026-01-31T12:34:56Z").size());
  EXPECT_NO_THROW(records::check(record));
}

TEST(Libraries, EveryOneHasAVersion) {
  ASSERT_FALSE(library_versions().empty());
  for (const auto& [name, version] : library_versions()) EXPECT_NE(version, "") << name;
  EXPECT_TRUE(std::ranges::any_of(library_versions(), [](const auto& entry) { return entry.first == "yaml-cpp"; }));
}

}  // namespace
}  // namespace eflops::experiment
