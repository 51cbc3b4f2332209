#include "apps/command_line.h"
#include "programs/bench_collective.h"
#include "programs/bench_compare.h"
#include "programs/bench_import.h"
#include "programs/bench_tune.h"

int main(int argc, char** argv) {
  using namespace eflops;
  using coll::Collective;
  programs::BenchOptions options;
  programs::CompareOptions compare;
  programs::ImportOptions import;
  programs::TuneOptions tune;
  const auto verb = [&options](const char* name, Collective collective, const char* help,
                               std::vector<std::string> examples) {
    return programs::Verb{
        .name = name,
        .help = help,
        .options = OptionSet(options),
        .run = [&options,
                collective](const programs::Invocation& call) { programs::run_bench(collective, options, call); },
        .estimate = [&options,
                     collective](const programs::Invocation&) { programs::estimate_bench(collective, options); },
        .examples = std::move(examples)};
  };
  return apps::run_program(
      {.name = "eflops-bench",
       .help = "measures collectives between processes, with every result checked",
       .verbs = {verb("", Collective::Allreduce, "allreduce on this host, 8 B to 128 MiB", {"eflops-bench"}),
                 verb("allreduce", Collective::Allreduce, "the sum of all ranks' data, on every rank",
                      {"eflops-bench allreduce -b 1K -e 16M -f 4 --algorithm all",
                       "eflops-bench allreduce --transport tcp -e 1M --format nccl"}),
                 verb("reduce-scatter", Collective::ReduceScatter, "a block of the sum on each rank",
                      {"eflops-bench reduce-scatter -e 1M"}),
                 verb("all-gather", Collective::AllGather, "every rank's block on every rank",
                      {"eflops-bench all-gather -e 1M"}),
                 verb("broadcast", Collective::Broadcast, "one rank's data on every rank",
                      {"eflops-bench broadcast -e 1M --root 1"}),
                 verb("alltoall", Collective::AllToAll, "a block from every rank for every rank",
                      {"eflops-bench alltoall -e 1M"}),
                 {.name = "tune",
                  .help = "measures which algorithm is the fastest, and writes the table that `auto` follows",
                  .options = OptionSet(tune),
                  .run = [&tune](const programs::Invocation& call) { programs::run_tune(tune, call); },
                  .examples = {"eflops-bench tune --transport tcp --table tuning.yaml",
                               "eflops-bench allreduce --transport tcp --table tuning.yaml"}},
                 {.name = "compare",
                  .help = "tells what became faster or slower between two files of records",
                  .options = OptionSet(compare),
                  .run = [&compare](const programs::Invocation&) { programs::run_compare(compare); },
                  .positional = "records",
                  .examples = {"eflops-bench compare before.jsonl after.jsonl --gate"}},
                 {.name = "import",
                  .help = "reads logs of nccl-tests, OSU and Intel MPI Benchmarks into records",
                  .options = OptionSet(import),
                  .run = [&import](const programs::Invocation& call) { programs::run_import(import, call); },
                  .positional = "logs",
                  .examples = {"eflops-bench import nccl.log --record nccl.jsonl"}}}},
      argc, argv);
}
