#include "programs/info.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "comm/mpi_session.h"
#include "experiment/provenance.h"
#include "machine/binding.h"
#include "machine/machine.h"
#include "programs/command_line.h"
#include "records/provenance.h"

namespace eflops::programs {
namespace {

void print_line(const char* name, const std::string& value) { fmt::print("{:<12}{}\n", name, value); }

std::string count_of(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string cache_text(const machine::Topology& topology) {
  std::string text;
  for (const machine::Cache& cache : topology.caches) {
    if (cache.kind == "instruction") continue;
    text += fmt::format("{}L{} {} x {}", text.empty() ? "" : ", ", cache.level, cache.count, format_bytes(cache.bytes));
  }
  return text.empty() ? "unknown" : text;
}

std::string limit_text(std::int64_t limit, const std::string& shown) {
  return limit == machine::Limits::kUnlimited ? "unlimited" : shown;
}

void print_machine(const machine::Machine& machine) {
  const machine::Topology& topology = machine.topology;
  print_line("host", fmt::format("{} ({})", machine.host, machine.kernel));
  print_line("cpu", machine.cpu.empty() ? "unknown" : machine.cpu);
  print_line("cores",
             fmt::format("{} in {} and {}, {}; usable here: {}", topology.cores, count_of(topology.sockets, "socket"),
                         count_of(topology.numa_nodes, "NUMA node"),
                         count_of(topology.hardware_threads, "hardware thread"), topology.usable_core_count()));
  print_line("caches", cache_text(topology));
  print_line("isa", fmt::format("{}", fmt::join(machine.isa, " ")));
  print_line("memory", fmt::format("{}, {} available", format_bytes(machine.memory_bytes),
                                   format_bytes(machine.memory_available_bytes)));
  print_line("load", fmt::format("{:.2f}{}", machine.load, machine.load < 0.3 ? "" : " (timings want less than 0.3)"));
  if (!machine.governor.empty()) print_line("governor", machine.governor);
  const machine::Limits& limits = machine.limits;
  std::string text = fmt::format(
      "locked memory {}, open files {}",
      limit_text(limits.locked_memory_bytes, format_bytes(static_cast<std::uint64_t>(limits.locked_memory_bytes))),
      limit_text(limits.open_files, fmt::format("{}", limits.open_files)));
  if (limits.cpu_quota > 0) text += fmt::format(", container quota {:.1f} cores", limits.cpu_quota);
  print_line("limits", text);
}

}  // namespace

void PeakOptions::visit_fields(OptionVisitor& v) {
  v("measure", measure, "what is measured; 'available' leaves out, and names, what this build or CPU cannot");
  v("seconds", seconds, "time for each GEMM peak", {.unit = "s", .min = 0.01, .max = 600});
  v("repeats", repeats, "timed passes over memory for each bandwidth", {.min = 1, .max = 10000, .aliases = {"n"}});
  v("megabytes", megabytes, "size of each of the three arrays; 0: four times the last-level caches, at least 64",
    {.unit = "MB", .min = 0, .max = 1e6});
  v("record", record, "file that the record is appended to; empty: none", {.changes_result = false});
}

void run_info_summary(const Invocation& call) {
  const machine::Machine machine = machine::inspect();
  print_machine(machine);
  const int threads = thread_count();
  print_line("threads", machine::placement(machine, threads));
  print_line("precisions", machine.has_native_bf16() ? "f32, bf16 (the CPU computes on bf16)"
                                                     : "f32; bf16 only emulated: this CPU has no AVX512-BF16 or AMX");
  print_line("transports", fmt::format("shm, tcp, mpi ({})", comm::MpiSession::library()));
  fmt::print("\n{}", build_text(call.program));
  if (const std::string problem = machine::binding_problem(machine, threads); !problem.empty())
    fmt::print("\nwarning: {}\n", problem);
  fmt::print("\nnext: `{0} peak` measures GEMM and memory peaks; `{0} --help` lists everything\n", call.program);
}

void run_info_provenance(const Invocation&) {
  fmt::print("{}\n", to_json_line(records::to_json(experiment::gather_provenance(machine::inspect()))));
}

void run_info_build(const Invocation& call) {
  fmt::print("{}", build_text(call.program.substr(0, call.program.find(' '))));
}

}  // namespace eflops::programs
