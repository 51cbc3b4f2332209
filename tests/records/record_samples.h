#pragma once

#include "records/peer_record.h"
#include "records/record.h"

namespace eflops::records {

inline Provenance sample_provenance() {
  return {.version = "0.1.0",
          .git_commit = "unknown",
          .git_dirty = true,
          .host = "node-1",
          .kernel = "Linux",
          .cpu = "A \"fast\" CPU\t\xC3\xA9",
          .cores = 4,
          .memory_gib = 15.5,
          .load = 0.25,
          .compiler = "GNU 12.2.0",
          .flags = "-O3",
          .build_type = "Release",
          .libraries = {{"fmt", "9.1.0"}, {"hwloc", "2.9.0"}},
          .ranks = 2,
          .threads = 4,
          .placement = "4 threads on 4 of 4 cores"};
}

inline Record sample_record() {
  return {.status = Status::Complete,
          .verification = {.method = "finite losses", .outcome = Outcome::Passed},
          .program = "eflops-pretrain",
          .experiment = "mini",
          .config_hash = "0123456789abcdef",
          .command = "eflops-pretrain --lr 1e-4",
          .date = "2026-01-31T12:34:56Z",
          .seed = -7,
          .measurements = {{.name = "step_time", .unit = "s", .samples = {0.1, 0.125}}},
          .facts = {{"transport", std::string("none")},
                    {"parameters", std::int64_t{9007199254740993}},
                    {"loss", 2.5},
                    {"packed", true}},
          .provenance = sample_provenance()};
}

inline PeerRecord sample_peer_record() {
  return {.case_name = "mini 4x256, 32 x 128",
          .ratio = 1.6,
          .ci_low = 1.55,
          .ci_high = 1.7,
          .goal = 1.5,
          .better = "higher",
          .ours = 8000,
          .peer = 5000,
          .unit = "tokens/s",
          .peer_version = "torch 2.6",
          .command = "tests/peers/run",
          .launches = 5,
          .date = "2026-01-31T12:34:56Z",
          .provenance = sample_provenance()};
}

}  // namespace eflops::records
