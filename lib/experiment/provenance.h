#pragma once

#include <string>

#include "machine/machine.h"
#include "records/provenance.h"
#include "records/record.h"

namespace eflops::experiment {

/// Build, machine, threads and load of the running process. The load is the machine's at `inspect()`: look before the
/// work begins, or the record shows the load the work itself made.
records::Provenance gather_provenance(const machine::Machine& machine);

/// What every record of a program starts from.
struct RecordContext {
  std::string program;     ///< "eflops-info peak"
  std::string experiment;  ///< name of the run
  std::string config_hash;
  std::string command;
  std::int64_t seed = 0;
};

/// A record with date and provenance filled in and the status Unverified; its results and verification come from the
/// caller.
records::Record start_record(const RecordContext& context, const machine::Machine& machine);

}  // namespace eflops::experiment
