#include "experiment/provenance.h"

#include "base/build_info.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "experiment/libraries.h"
#include "machine/binding.h"

namespace eflops::experiment {

records::Provenance gather_provenance(const machine::Machine& machine) {
  const BuildInfo& build = build_info();
  return {.version = build.version,
          .git_commit = build.git_commit,
          .git_dirty = build.git_dirty,
          .host = machine.host,
          .kernel = machine.kernel,
          .cpu = machine.cpu,
          .cores = machine.topology.cores,
          .memory_gib = static_cast<double>(machine.memory_bytes) / (1024.0 * 1024.0 * 1024.0),
          .load = machine.load,
          .compiler = build.compiler,
          .flags = build.flags,
          .build_type = build.build_type,
          .libraries = library_versions(),
          .ranks = 1,
          .threads = thread_count(),
          .placement = machine::placement(machine, thread_count())};
}

records::Record start_record(const RecordContext& context, const machine::Machine& machine) {
  records::Record record;
  record.program = context.program;
  record.experiment = context.experiment;
  record.config_hash = context.config_hash;
  record.command = context.command;
  record.seed = context.seed;
  record.date = utc_timestamp();
  record.provenance = gather_provenance(machine);
  return record;
}

}  // namespace eflops::experiment
