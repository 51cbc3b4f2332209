#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "programs/program.h"

namespace eflops::programs {

/// `eflops-bench import LOG ...`: tables of other tools as records.
struct ImportOptions {
  std::vector<std::string> logs;
  std::string record = "";
  std::string collective = "";
  std::int64_t ranks = 0;

  void visit_fields(OptionVisitor& v);
};

/// Appends a record for each row of the logs to `record`, or prints them as a table where there is none. Rows that the
/// tool checked are complete or failed, others unverified. All logs are read before anything is written.
void run_import(const ImportOptions& options, const Invocation& call);

}  // namespace eflops::programs
