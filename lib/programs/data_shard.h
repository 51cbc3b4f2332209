#pragma once

#include <string>

#include "base/options.h"
#include "data/sharding.h"
#include "data/text_source.h"
#include "text/tokenizer.h"

namespace eflops::programs {

/// `eflops-data shard`: text to tokenised, memory-mapped shards.
struct ShardOptions {
  data::TextSourceOptions text;
  text::TokenizerOptions tokenizer;
  data::ShardingOptions shards;

  /// All fields stand at the top: --input, --vocabulary, --output …
  void visit_fields(OptionVisitor& v);
};

/// Makes the shards and writes a summary to stdout; what is odd in the text is a warning on stderr. DataError for bad
/// text, a vocabulary without the special pieces of pre-training or a full disk; ConfigError for options and output
/// folders that do not fit; nothing is left behind in either case.
void run_shard(const ShardOptions& options);

/// For --dry-run: opens the vocabulary, checks input and output, tokenises the first chunk, and says about how many
/// tokens, bytes and seconds the whole would be. Writes nothing but that.
void estimate_shard(const ShardOptions& options);

/// The summary, for people: files, documents, sentences, tokens, unknown rate, speed and every odd count that is not 0.
std::string shard_summary(const data::ShardingSummary& summary, const std::string& output);

}  // namespace eflops::programs
