#pragma once

#include <string>
#include <vector>

#include "base/options.h"

namespace eflops::programs {

/// `eflops-data check`: are shards whole?
struct CheckOptions {
  std::vector<std::string> input;  ///< shard files or folders of shards

  void visit_fields(OptionVisitor& v);
};

/// Reads every byte of every shard and compares it with its checksums, the counts with the manifest, and the stored
/// tokenizer with the one that made the ids; one line per shard to stdout. DataError when anything is damaged or
/// missing, after all of it was looked at.
void run_check(const CheckOptions& options);

}  // namespace eflops::programs
