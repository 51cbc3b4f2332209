#include "apps/command_line.h"
#include "programs/info.h"

int main(int argc, char** argv) {
  using namespace eflops;
  programs::NoOptions none;
  programs::PeakOptions peak;
  return apps::run_program(
      {.name = "eflops-info",
       .help = "what this machine and this build can do",
       .verbs = {{.help = "machine, limits, build, precisions and transports",
                  .options = OptionSet(none),
                  .run = programs::run_info_summary,
                  .examples = {"eflops-info"}},
                 {.name = "peak",
                  .help = "measured GEMM peak and memory bandwidth, per core, per socket and in all",
                  .options = OptionSet(peak),
                  .run = [&](const programs::Invocation& call) { programs::run_info_peak(peak, call); },
                  .estimate = [&](const programs::Invocation&) { programs::estimate_info_peak(peak); },
                  .examples = {"eflops-info peak --seconds 0.2 --repeats 3",
                               "eflops-info peak --measure bandwidth --record peak.jsonl"}},
                 {.name = "build",
                  .help = "versions of compiler and libraries, and flags",
                  .options = OptionSet(none),
                  .run = programs::run_info_build,
                  .examples = {"eflops-info build"}},
                 {.name = "provenance",
                  .help = "what records say of this build and machine, as one JSON object",
                  .options = OptionSet(none),
                  .run = programs::run_info_provenance,
                  .examples = {"eflops-info provenance"}}}},
      argc, argv);
}
