#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"

namespace eflops::programs {

/// `eflops-data stat`: what is in shards?
struct StatOptions {
  std::vector<std::string> input;  ///< shard files or folders of shards
  std::int64_t top = 10;           ///< most frequent pieces to show

  void visit_fields(OptionVisitor& v);
};

/// Writes sizes, lengths of documents and sentences, the share of the vocabulary in use and the most frequent pieces to
/// stdout. Reads all tokens once. Piece names come from the tokenizer stored beside the first shard; without one, ids
/// are shown. DataError for damaged shards.
void run_stat(const StatOptions& options);

}  // namespace eflops::programs
